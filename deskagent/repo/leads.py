"""Which definitions each file leads to by the names it mentions: what a map of the repository is drawn from.

Kept in the index's database, a row a file, as it was for a path and its content. Whoever asks brings the rows up
to date: those of changed files are found anew, and of the others only what they say of a name that is now
defined elsewhere, or otherwise. Whatever the changes were, the rows are those that an empty table would get.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import msgspec

from deskagent.repo import mentions
from deskagent.repo.homes import COMMON, KINDS, METHODS, File, Homes, Lead, module

_log = logging.getLogger(__name__)

_SEVERAL = 500  # changed files from which on finding all rows anew is cheaper
_FEW = 8  # names that are looked for in packed bytes before these are unpacked

_Kept = dict[bytes, tuple[int, int, bytes]]
"""Path → id, content, packed leads."""

_decoder = msgspec.msgpack.Decoder(list[Lead])


@dataclass(frozen=True)
class Leads:
    """The files by path and, beside each, its leads by name."""

    files: list[File]
    rows: list[list[Lead]]


def bring_up(connection: sqlite3.Connection) -> Leads:
    """The leads of the index as it is now, kept for the next time where that takes no waiting."""
    connection.execute("BEGIN")  # one view of all tables; what another process has overtaken can't be written
    try:
        rows = connection.execute("SELECT path, id, content, leads FROM lead")
        kept: _Kept = {path: (at, content, blob) for path, at, content, blob in rows}
        files = _files(connection, kept)
        changed = [file for file in files if file.path not in kept or kept[file.path][1] != file.content]
        if len(changed) > _SEVERAL:
            kept, changed = {}, files
        there = {file.path: file.content for file in files}
        gone = {path: content for path, (_, content, _) in kept.items() if there.get(path) != content}
        found = _found(connection, files, changed, gone, kept) if changed or gone else {}
        if changed or gone:
            _keep(connection, files, found, anew=not kept)
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    return Leads(
        files, [found[file.id] if file.id in found else _decoder.decode(kept[file.path][2]) for file in files]
    )


def common(
    connection: sqlite3.Connection, files: list[File], names: Collection[str]
) -> dict[int, list[Lead]]:
    """By file id the leads of those among the names that so many files define that none is kept of them."""
    homes = Homes(connection, files, names)
    often = {name for name in names if len(homes.numbers(name)) > COMMON and not name.startswith("__")}
    if not often:
        return {}
    return {
        file.id: homes.leads(file, mentioned, mentioned.keys() & often)
        for file, mentioned in _mentioning(connection, files, often)
    }


def _files(connection: sqlite3.Connection, kept: _Kept) -> list[File]:
    rows = connection.execute(
        "SELECT min(file.path), content.id, content.language FROM file"
        " JOIN content ON content.id = file.content WHERE content.language != '' GROUP BY content.id ORDER BY 1"
    )
    last = max((at for at, _, _ in kept.values()), default=0)
    files: list[File] = []
    for path, content, language in rows:
        if path in kept:
            at = kept[path][0]
        else:
            at = last = last + 1
        files.append(File(at, path, content, language))
    return files


def _found(
    connection: sqlite3.Connection,
    files: list[File],
    changed: list[File],
    gone: dict[bytes, int],
    kept: _Kept,
) -> dict[int, list[Lead]]:
    """By file id the rows that may differ from those kept."""
    if not kept:
        homes = Homes(connection, files, None)
        return {
            file.id: homes.leads(file, mentioned, mentioned.keys() & homes.telling)
            for file, mentioned in _mentioning(connection, files, None)
        }
    mentioned = {file.id: _mentioned(connection, file) for file in changed}
    moved = _moved(connection, changed, gone)
    homes = Homes(connection, files, moved.union(*mentioned.values()))
    found = {
        file.id: homes.leads(file, mentioned[file.id], mentioned[file.id].keys() & homes.telling)
        for file in changed
    }
    if moved:
        for file, names in _mentioning(connection, files, moved):
            if file.id not in found:
                others = [lead for lead in _decoder.decode(kept[file.path][2]) if lead[0] not in moved]
                again = homes.leads(file, names, names.keys() & moved & homes.telling)
                found[file.id] = sorted(others + again)
    return found


def _moved(connection: sqlite3.Connection, changed: list[File], gone: dict[bytes, int]) -> set[str]:
    """The names that a path now defines and didn't, or the other way round, or as something else."""
    before: set[tuple[object, ...]] = set()
    for path, content in gone.items():
        (language,) = connection.execute("SELECT language FROM content WHERE id = ?", (content,)).fetchone()
        before |= _facts(connection, path, content, language)
    now: set[tuple[object, ...]] = set()
    for file in changed:
        now |= _facts(connection, file.path, file.content, file.language)
    return {str(name) for name, *_ in before ^ now}


def _facts(
    connection: sqlite3.Connection, path: bytes, content: int, language: str
) -> set[tuple[object, ...]]:
    rows = connection.execute("SELECT name, kind FROM definition WHERE content = ?", (content,))
    named = module(path, language)
    return {(name, path, named, kind in METHODS) for name, kind in rows if kind in KINDS}


def _mentioned(connection: sqlite3.Connection, file: File) -> mentions.Packed:
    (blob,) = connection.execute("SELECT mentions FROM content WHERE id = ?", (file.content,)).fetchone()
    return mentions.decode(blob)


def _mentioning(
    connection: sqlite3.Connection, files: list[File], names: Collection[str] | None
) -> Iterator[tuple[File, mentions.Packed]]:
    """The files that mention one of the names (None: all files), with everything they mention."""
    by_content = {file.content: file for file in files}
    packed = [name.encode() for name in names] if names is not None and len(names) <= _FEW else [b""]
    for content, blob in connection.execute("SELECT id, mentions FROM content"):
        file = by_content.get(content)
        if file is not None and any(name in blob for name in packed):
            mentioned = mentions.decode(blob)
            if names is None or not mentioned.keys().isdisjoint(names):
                yield file, mentioned


def _keep(
    connection: sqlite3.Connection, files: list[File], found: dict[int, list[Lead]], *, anew: bool
) -> None:
    """Writes the rows found and drops those of files that are gone; leaves it where nothing can be written."""
    there = {file.id for file in files}
    encoder = msgspec.msgpack.Encoder()
    try:
        if anew:
            connection.execute("DELETE FROM lead")
        else:
            old = [row for row in connection.execute("SELECT id FROM lead") if row[0] not in there]
            connection.executemany("DELETE FROM lead WHERE id = ?", old)
        connection.executemany(
            "INSERT OR REPLACE INTO lead (id, path, content, leads) VALUES (?, ?, ?, ?)",
            ((f.id, f.path, f.content, encoder.encode(found[f.id])) for f in files if f.id in found),
        )
        connection.execute("COMMIT")
    except sqlite3.OperationalError as error:
        _log.info("The map's leads are not kept: %s", error)
