"""A mark in a journal: the state of its files up to one record, by which it is known again."""

from __future__ import annotations

import time
import zlib
from pathlib import Path

import msgspec

from deskagent.session import away, files, store
from deskagent.session.record import Place

_QUIET = 1_000_000_000
"""Nanoseconds since a file's last change after which a further one can't have the same time."""
_CHUNK = 1 << 20

Stamp = tuple[int, int, int]


class Piece(msgspec.Struct, frozen=True):
    """The first `size` bytes of a segment, all of it but in the last piece of a mark. `stamp`: inode and times of a
    file that is known to hold these bytes, None where only they can say it."""

    number: int
    size: int
    crc: int
    stamp: Stamp | None = None


class Mark(msgspec.Struct, frozen=True):
    """All that is before the end of the record `seq`."""

    seq: int
    pieces: tuple[Piece, ...]

    @property
    def place(self) -> Place:
        return Place(self.seq, self.pieces[-1].number, self.pieces[-1].size)


def checked(mark: Mark, folder: Path) -> Mark | None:
    """The mark, if the journal in `folder` still begins so, with the stamps of today. OSError where it can't be read.

    A finished segment that nobody wrote to since is taken by its stamp, one that is away by its note; all else is read
    and summed up.
    """
    paths = {store.number(path): path for path in store.segments(folder)}
    gone = away.notes(folder)
    last = mark.pieces[-1].number
    if sorted(number for number in (*paths, *gone) if number <= last) != [p.number for p in mark.pieces]:
        return None
    pieces = []
    for piece in mark.pieces:
        if piece.number in gone:
            note = gone[piece.number]
            if (note.size, note.crc) != (piece.size, piece.crc):
                return None
            pieces.append(msgspec.structs.replace(piece, stamp=None))
            continue
        path = paths[piece.number]
        size, stamp = _looked(path)
        whole = piece.number != last
        if size != piece.size if whole else size < piece.size:
            return None
        if not (whole and stamp is not None and stamp == piece.stamp) and (
            _crc(path, 0, piece.size, 0) != piece.crc
        ):
            return None
        pieces.append(msgspec.structs.replace(piece, stamp=stamp if whole else None))
    return Mark(mark.seq, tuple(pieces))


def set_at(place: Place, folder: Path, before: Mark | None) -> Mark:
    """The mark at `place` of the journal in `folder`; what `before` knows isn't read again. OSError."""
    done = list(before.pieces[:-1]) if before else []
    begun = before.pieces[-1] if before else None
    for path in store.segments(folder):
        number = store.number(path)
        if number > place.segment or (begun and number < begun.number):
            continue
        offset, crc = (begun.size, begun.crc) if begun and number == begun.number else (0, 0)
        size, stamp = _looked(path)
        if number == place.segment:
            size, stamp = place.offset, None
        done.append(Piece(number, size, _crc(path, offset, size, crc), stamp))
    return Mark(place.seq, tuple(done))


def _looked(path: Path) -> tuple[int, Stamp | None]:
    """A file's size, and its stamp if it is old enough to tell by it whether the file changes."""
    found = path.stat()
    changed = max(found.st_mtime_ns, found.st_ctime_ns)
    quiet = time.time_ns() - changed > _QUIET
    return found.st_size, (found.st_ino, found.st_mtime_ns, found.st_ctime_ns) if quiet else None


def _crc(path: Path, start: int, end: int, crc: int) -> int:
    """The CRC-32 `crc` gone on with over the bytes [start, end)."""
    with files.open_read(path) as file:
        file.seek(start)
        while start < end and (data := file.read(min(_CHUNK, end - start))):
            crc = zlib.crc32(data, crc)
            start += len(data)
    return crc
