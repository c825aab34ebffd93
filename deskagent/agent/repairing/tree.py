"""Which files of a folder changed since a moment: told by what the system says of each, read when it is asked."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from deskagent.repair.source import SourceError, SourceFile

Mark = tuple[int, int, int]


@dataclass(frozen=True)
class Changed:
    """files: contents now, of those that changed or are new. gone: no longer there. unread: path → why not."""

    files: Mapping[str, bytes]
    gone: tuple[str, ...] = ()
    unread: Mapping[str, str] | None = None

    def __bool__(self) -> bool:
        return bool(self.files or self.gone)


@dataclass(frozen=True)
class Tree:
    """marks: size, inode and time of change of each file, by its path relative to `folder`."""

    folder: Path
    marks: Mapping[str, Mark]

    @classmethod
    def of(cls, folder: Path, names: Iterable[str]) -> Tree:
        marks = ((name, mark) for name in names if (mark := _mark(folder / name)) is not None)
        return cls(folder, dict(marks))

    def changed(self, more: Iterable[str] = ()) -> Changed:
        """What differs now. more: paths that are looked at beside those that were there."""
        files, gone, unread = {}, [], {}
        for name in dict.fromkeys((*self.marks, *more)):
            now = _mark(self.folder / name)
            if now == self.marks.get(name):
                continue
            if now is None:
                gone.append(name)
                continue
            try:
                files[name] = SourceFile.read(self.folder, name).raw
            except SourceError as error:
                unread[name] = error.message
        return Changed(files, tuple(gone), unread)


def _mark(path: Path) -> Mark | None:
    """None where no plain file is."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)):
        return None
    return status.st_size, status.st_ino, status.st_mtime_ns
