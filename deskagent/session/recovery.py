"""What a writer does to a journal before it goes on with it: cut a torn tail, set damaged lines apart.

Nothing is thrown away: cut bytes are added to `<segment>.torn`, damaged lines to `<segment>.bad`, and both
are on the disk before the segment changes. Killed in between, the next recovery does it again.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from deskagent.session import files, store
from deskagent.session.record import Place
from deskagent.session.segment import Header, Line, header, lines


class Damage(msgspec.Struct, frozen=True):
    """Something wrong with a journal. `kind`: `torn`, `bad`, `gap`, `duplicate` or `unreadable`; `text` is
    for people and says where."""

    kind: str
    segment: str
    text: str


class Tail(msgspec.Struct, frozen=True):
    """Where a journal goes on: its last segment with its size (None: there is none) and its last number."""

    path: Path | None
    size: int
    header: Header | None
    last: int
    damage: tuple[Damage, ...]


def recover(folder: Path, start: Place | None = None) -> Tail:
    """Repairs the journal in `folder`; the caller holds its lock. start: all before it is known to be whole. OSError
    where the disk can't."""
    found = store.segments(folder)
    damage: list[Damage] = []
    last = size = 0
    head: Header | None = None
    if start is not None:
        last = start.seq
    for path in found:
        known = 0
        if start is not None and store.number(path) <= start.segment:
            if store.number(path) < start.segment:
                continue
            known, head = start.offset, header(path)
        try:
            seen = list(lines(path, known))
        except OSError as error:
            if path == found[-1]:
                raise  # its last number is not known
            damage.append(unreadable(path, error))
            continue
        good = [line for line in seen if line.content is not None]
        end = good[-1].offset + len(good[-1].raw) if good else known
        torn = [line for line in seen if line.offset >= end]
        bad = [line for line in seen if line.offset < end and line.content is None]
        if bad:
            damage += [bad_line(path, line) for line in bad]
            files.append(_beside(path, ".bad"), b"".join(line.raw for line in bad))
            whole = _beginning(path, known) + b"".join(line.raw for line in good)
            files.replace(path, whole + b"".join(line.raw for line in torn))
            end = len(whole)
        if torn:
            damage.append(torn_tail(path, torn))
            _cut(path, end, b"".join(line.raw for line in torn))
        heads = [line.content for line in good if isinstance(line.content, Header)]
        head, size = heads[0] if heads else head if known else None, end
        numbers = [line.content.seq for line in good if not isinstance(line.content, Header | None)]
        last = max([last, *numbers, head.first - 1 if head else 0])
    return Tail(found[-1] if found else None, size, head, last, tuple(damage))


def torn_tail(path: Path, torn: list[Line]) -> Damage:
    count = sum(len(line.raw) for line in torn)
    return Damage("torn", path.name, f"{path.name} ends with {count} bytes of an unfinished record")


def bad_line(path: Path, line: Line) -> Damage:
    return Damage("bad", path.name, f"{path.name} has a damaged record at byte {line.offset}")


def unreadable(path: Path, error: OSError) -> Damage:
    return Damage("unreadable", path.name, f"{path.name} can't be read: {error.strerror or error}")


def _beginning(path: Path, size: int) -> bytes:
    with files.open_read(path) as file:
        return file.read(size)


def _cut(path: Path, end: int, torn: bytes) -> None:
    files.append(_beside(path, ".torn"), torn)
    fd = files.open_write(path)
    try:
        files.truncate(fd, end)
        files.sync(fd)
    finally:
        files.close(fd)


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)
