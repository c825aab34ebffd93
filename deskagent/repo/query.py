"""What can be asked of an index's database. Plain functions over a connection; nothing here writes."""

from __future__ import annotations

import bisect
import os
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from deskagent.repo import mentions, sources

_WORD = re.compile(r"\w+")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LEAST = 3  # characters that a trigram needs
_DEFINITION = (
    "SELECT file.path, d.name, d.qualified, d.kind, d.line, d.end_line, d.signature, content.language"
    " FROM definition AS d JOIN file ON file.content = d.content JOIN content ON content.id = d.content"
)


@dataclass(frozen=True)
class Definition:
    """Where something is defined. `path` is relative to the root, POSIX, with surrogate escapes where it isn't
    UTF-8. Lines count from 1, both ends included. `qualified` is dotted, within the file: `Class.method`."""

    path: str
    name: str
    qualified: str
    kind: str
    line: int
    end_line: int
    signature: str
    language: str


@dataclass(frozen=True)
class Reference:
    """A line where a name is called or merely stands; `inside` is the innermost function or class around it."""

    path: str
    line: int
    call: bool
    inside: Definition | None


@dataclass(frozen=True)
class Caller:
    """A function, method or class whose body calls the name in question, at `lines`."""

    definition: Definition
    lines: tuple[int, ...]


@dataclass(frozen=True)
class Line:
    """A line of text that was found."""

    path: str
    line: int
    text: str


def find(connection: sqlite3.Connection, name: str) -> list[Definition]:
    """Definitions of a name, or of a dotted one whose last parts match: `method`, `Class.method`,
    `module.Class.method`. The most fully matching first."""
    leaf = name.rpartition(".")[2]
    found = _definitions(connection, f"{_DEFINITION} WHERE d.name = ?", leaf)
    if leaf != name:
        found = [definition for definition in found if _fits(definition, name)]
    return sorted(found, key=lambda d: (d.qualified != name, d.path, d.line))


def _fits(definition: Definition, dotted: str) -> bool:
    """Whether a dotted name ends as the definition's own does, behind any part of its module's path."""
    module = definition.path.rpartition(".")[0].replace("/", ".").removesuffix(".__init__")
    return f".{module}.{definition.qualified}".endswith(f".{dotted}")


def _definitions(connection: sqlite3.Connection, statement: str, *values: object) -> list[Definition]:
    return [
        Definition(os.fsdecode(path), *rest)
        for path, *rest in connection.execute(statement, values).fetchall()
    ]


def references(connection: sqlite3.Connection, name: str) -> list[Reference]:
    """Where a name is called or stands, its definitions left out; by path and line. The index knows names, not
    what they are bound to: another thing of that name counts too."""
    found: list[Reference] = []
    for path, content, calls, refs in _mentioning(connection, name):
        scopes = _Scopes(connection, path, content)
        for packed, call in ((calls, True), (refs, False)):
            found += (Reference(path, line, call, scopes.around(line)) for line in mentions.lines(packed))
    return sorted(found, key=lambda reference: (reference.path, reference.line, not reference.call))


def callers(connection: sqlite3.Connection, qualified: str) -> list[Caller]:
    """Definitions that call what has this (dotted) name, those in the file of its definition first.

    Calls by the last part of the name count, as for `references`; calls at the top level of a file have no
    caller and are among the references alone.
    """
    leaf = qualified.rpartition(".")[2]
    home = {definition.path for definition in find(connection, qualified)}
    found: list[Caller] = []
    for path, content, calls, _ in _mentioning(connection, leaf):
        scopes = _Scopes(connection, path, content)
        by_scope: dict[Definition, list[int]] = {}
        for line in mentions.lines(calls):
            if (scope := scopes.around(line)) is not None:
                by_scope.setdefault(scope, []).append(line)
        found += (Caller(scope, tuple(lines)) for scope, lines in by_scope.items())
    return sorted(found, key=lambda c: (c.definition.path not in home, c.definition.path, c.definition.line))


def _mentioning(connection: sqlite3.Connection, name: str) -> Iterator[tuple[str, int, bytes, bytes]]:
    """Path, content and packed lines of every file that mentions a name."""
    statement = (
        "SELECT file.path, content.id, content.mentions FROM file JOIN content ON content.id = file.content"
    )
    if match := _phrase(name):
        statement += " WHERE content.id IN (SELECT rowid FROM body WHERE body MATCH ?)"
    for path, content, blob in connection.execute(statement, (match,) if match else ()).fetchall():
        packed = mentions.decode(blob).get(name)
        if packed is not None:
            yield os.fsdecode(path), content, *packed


def _phrase(text: str) -> str:
    """What makes FTS5 look for the words of `text` in a row; empty if it has no word."""
    words = [word for word in _WORD.findall(text) if word.strip("_")]
    return '"{}"'.format(" ".join(words)) if words else ""


class _Scopes:
    """The functions and classes of a file, to find the innermost around a line."""

    def __init__(self, connection: sqlite3.Connection, path: str, content: int) -> None:
        statement = f"{_DEFINITION} WHERE d.content = ? AND file.path = ? ORDER BY d.ordinal"
        found = _definitions(connection, statement, content, os.fsencode(path))
        self._scopes = [scope for scope in found if scope.end_line > scope.line or scope.kind in _SCOPES]
        self._starts = [scope.line for scope in self._scopes]

    def around(self, line: int) -> Definition | None:
        for at in range(bisect.bisect_right(self._starts, line) - 1, -1, -1):
            scope = self._scopes[at]
            if scope.kind in _SCOPES and scope.end_line >= line:
                return scope
        return None


_SCOPES = {"function", "method", "class", "interface", "struct", "enum", "module"}


def search_text(connection: sqlite3.Connection, root: Path, query: str, limit: int) -> list[Line]:
    """Lines of files that hold every word of `query` ("quoted" words stand in a row), best files first.

    The lines are read from disk as they are now, so one that was changed away since is not shown.
    """
    pieces = [piece for quoted, plain in re.findall(r'"([^"]*)"|(\S+)', query) if (piece := quoted or plain)]
    phrases = [phrase for piece in pieces if (phrase := _phrase(piece))]
    if not phrases:
        return []
    rows = connection.execute(
        "SELECT file.path FROM (SELECT rowid, rank FROM body WHERE body MATCH ? ORDER BY rank LIMIT ?) AS hit"
        " JOIN file ON file.content = hit.rowid ORDER BY hit.rank, file.path",
        (" AND ".join(phrases), 4 * limit),
    )
    wanted = [_flexible(piece) for piece in pieces if _phrase(piece)]
    found: list[Line] = []
    for (path,) in rows.fetchall():
        found += _lines(root, os.fsdecode(path), wanted)
        if len(found) >= limit:
            break
    return found[:limit]


def _flexible(piece: str) -> re.Pattern[str]:
    """A pattern for the words of a phrase in a row, as the full text sees them."""
    words = [part for word in _WORD.findall(piece) for part in word.split("_") if part]
    return re.compile(r"(?<![^\W_])" + r"[\W_]+".join(map(re.escape, words)) + r"(?![^\W_])", re.IGNORECASE)


def _lines(root: Path, path: str, wanted: list[re.Pattern[str]]) -> list[Line]:
    """A file's lines with all the words, or with any if no line has all."""
    source = sources.read(root, path)
    if source is None or source.text is None:
        return []
    best: list[Line] = []
    most = 0
    for number, text in enumerate(source.text.split("\n"), 1):
        score = sum(pattern.search(text) is not None for pattern in wanted)
        if score > most:
            best, most = [], score
        if score and score == most:
            best.append(Line(path, number, text.rstrip("\r")))
    return best


def search_identifiers(connection: sqlite3.Connection, part: str, limit: int) -> list[str]:
    """Names that hold `part`, whatever its case: the shortest first. Fewer than three characters: whole names."""
    if len(part) < _LEAST:
        rows = connection.execute("SELECT text FROM name WHERE text = ?", (part,))
    else:
        rows = connection.execute(
            "SELECT name.text FROM trigram JOIN name ON name.id = trigram.rowid WHERE trigram MATCH ?"
            " ORDER BY length(name.text), name.text",
            ('"{}"'.format(part.replace('"', '""')),),
        )
    found: list[str] = []
    for (text,) in rows.fetchall():
        if len(found) >= limit:
            break
        if _alive(connection, text):
            found.append(text)
    return found


def _alive(connection: sqlite3.Connection, name: str) -> bool:
    """Whether a file that is still there has the name; the list of names forgets nothing."""
    defined = connection.execute(f"{_DEFINITION} WHERE d.name = ? LIMIT 1", (name,)).fetchone()
    return defined is not None or next(_mentioning(connection, name), None) is not None


def similar_definitions(connection: sqlite3.Connection, name: str, limit: int) -> list[Definition]:
    """Definitions whose names look like `name` (by their words and letters), the likest first, its own left out."""
    lower = name.lower()
    grams = sorted({lower[at : at + 3] for at in range(len(lower) - 2)})
    if not grams:
        return []
    match = " OR ".join('"{}"'.format(gram.replace('"', '""')) for gram in grams)
    rows = connection.execute(
        "SELECT DISTINCT name.text FROM (SELECT rowid FROM trigram WHERE trigram MATCH ? ORDER BY rank LIMIT 2000)"
        " AS hit JOIN name ON name.id = hit.rowid JOIN definition ON definition.name = name.text",
        (match,),
    )
    scored = sorted((-_likeness(name, text), text) for (text,) in rows.fetchall() if text != name)
    found: list[Definition] = []
    for _, text in scored:
        if len(found) >= limit:
            break
        found += find(connection, text)
    return found[:limit]


def _likeness(one: str, other: str) -> float:
    """0 to 1: how many words two names share, and how alike their letters are."""
    words, others = ({part.lower() for part in _PARTS.findall(name)} for name in (one, other))
    shared = len(words & others) / max(1, len(words | others))
    return (shared + SequenceMatcher(None, one.lower(), other.lower(), autojunk=False).ratio()) / 2
