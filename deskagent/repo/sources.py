"""Reads a project's files as text, safely: regular ones, not huge, not binary, in whatever encoding they are."""

from __future__ import annotations

import codecs
import hashlib
import os
import time
from dataclasses import dataclass
from pathlib import Path

from deskagent.errors import UsageError
from deskagent.repo import beneath

MAX_BYTES = 1 << 20
"""Larger files are data or generated; their text would swamp the index."""

_SNIFF = 8192
_LINE = 5000  # a longer mean line is machine-made
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it starts with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# A file written so shortly before it was read may be written again within the same tick of the clock.
_SETTLED_NS = 100_000_000
UNSETTLED = -1


@dataclass(frozen=True)
class Stamp:
    """What tells that a file is unchanged without reading it. Times are ns since 1970, UNSETTLED if just now."""

    size: int
    mtime: int
    ctime: int
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> Stamp:
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


@dataclass(frozen=True)
class Source:
    """A file as it was read. `text` is None for one that is passed over, and `note` says why."""

    path: str
    stamp: Stamp
    hash: bytes = b""
    text: str | None = None
    note: str = ""


def read(root: Path, path: str) -> Source | None:
    """The file `path` beneath `root` (POSIX, surrogate escapes allowed); None if nothing is there any more."""
    *folders, leaf = path.split("/")
    stamp = Stamp(0, UNSETTLED, UNSETTLED, 0)
    try:
        with beneath.folder(root, tuple(folders)) as at:
            status = os.stat(leaf, dir_fd=at, follow_symlinks=False)
            stamp = Stamp.of(status)
            if status.st_size > MAX_BYTES:
                return Source(path, stamp, note="large")
            before = time.time_ns()
            found = beneath.read(at, leaf, MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UsageError:
        return Source(path, stamp, note="special")
    except OSError as error:
        return Source(path, stamp, note=(error.strerror or "unreadable").lower())
    if found is None:
        return None
    data, status = found
    stamp = Stamp.of(status)
    if before - max(status.st_mtime_ns, status.st_ctime_ns) < _SETTLED_NS:
        stamp = Stamp(status.st_size, UNSETTLED, UNSETTLED, status.st_ino)
    if len(data) > MAX_BYTES:
        return Source(path, stamp, note="large")
    return _decoded(path, stamp, data)


def _decoded(path: str, stamp: Stamp, data: bytes) -> Source:
    digest = hashlib.blake2b(data, digest_size=16).digest()
    text = decode(data)
    if text is None:
        return Source(path, stamp, digest, note="binary")
    if len(text) > _LINE * (text.count("\n") + 1):
        return Source(path, stamp, digest, note="machine-made: very long lines")
    return Source(path, stamp, digest, text)


def decode(data: bytes) -> str | None:
    """The text of `data` by its byte order mark, as UTF-8, or as cp1252; None if it is binary."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    if b"\0" in data[:_SNIFF]:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")
