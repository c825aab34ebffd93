"""A project at one moment: every file that a scratch copy would hold, by hash, and what git doesn't hold in full.

Environments, dependencies, git's own folders and caches are not part of it: they are seen where they are, or
made anew. Contents are kept once each, compressed, up to a limit, the smallest files first; what the checked
out commit holds byte for byte is only named by its object's id.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from deskagent.errors import UsageError
from deskagent.repo import git, lightgit
from deskagent.repo.copying import CACHES, DEPENDENCIES, ENVIRONMENT

MAX_FILE = 8 << 20
"""Larger files are only hashed."""

MAX_BYTES = 50 << 20
"""Contents are kept up to so many bytes in all, before compression."""

HASHED = 100 << 20
"""Still larger files are not even read: a scratch copy leaves them out as well."""

NEVER = CACHES | {"__pycache__", ".pytest_cache", ".hypothesis", ".git"}
"""Folders that are no part of a snapshot."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True)
class Entry:
    """A file (`kind` "file"), symlink ("link") or empty folder ("folder") of a project.

    `mode` is permission bits; `digest` the SHA-256 of the contents or of the link's target (empty: not read),
    `size` their length. Where they can be had again: `object`, git's id for exactly these bytes, or `offset`
    in the kept contents (-1: in neither). A link's target is always kept in `target`.
    """

    path: str
    kind: str
    mode: int = 0
    digest: str = ""
    size: int = 0
    object: str = ""
    offset: int = -1
    target: str = ""

    @property
    def state(self) -> tuple[str, int, str]:
        """What makes two entries of one path the same."""
        return (self.kind, self.mode, self.digest)

    @property
    def held(self) -> bool:
        """Whether it can be made again."""
        return self.kind != "file" or bool(self.object) or self.offset >= 0


@dataclass(frozen=True)
class Snapshot:
    """`entries` sorted by path; `contents` (zlib) of the files that `commit` (HEAD, empty: no git) lacks."""

    entries: tuple[Entry, ...]
    contents: bytes
    commit: str = ""

    @property
    def digest(self) -> str:
        """Equal for equal trees, wherever the contents are kept."""
        whole = hashlib.sha256()
        for entry in self.entries:
            whole.update(repr((entry.path, *entry.state)).encode())
        return whole.hexdigest()


@dataclass(frozen=True)
class _Loose:
    """A file that git doesn't hold; `data` is None where that would take too much memory for now."""

    entry: Entry
    place: str
    data: bytes | None


class TooLarge(UsageError):
    """The project is not worth reading for this: it would take too long."""


def take(project: Path, *, seconds: float = 20.0) -> Snapshot:
    """Reads `project` as it is now. TooLarge after `seconds`; OSError where the folder itself can't be read."""
    deadline = time.monotonic() + seconds
    commit, objects = _committed(project)
    loose: list[_Loose] = []
    entries: list[Entry] = []
    room = MAX_BYTES
    for entry, place in _walk(str(project), deadline):
        if entry.kind != "file" or entry.size > HASHED:
            entries.append(entry)
            continue
        try:
            data = _read(place)
        except OSError:
            entries.append(entry)  # gone, or not ours to read: the scratch copy lacks it too
            continue
        read = _hashed(entry, data, objects.get(entry.path, ""))
        if read.object or read.size > MAX_FILE:
            entries.append(read)
            continue
        room -= read.size
        loose.append(_Loose(read, place, data if room >= 0 else None))
    contents = _keep(loose, entries, deadline)
    return Snapshot(tuple(sorted(entries, key=lambda e: e.path)), contents, commit)


def _committed(project: Path) -> tuple[str, dict[str, str]]:
    """HEAD and the objects that it holds by path; nothing where git can't say."""
    if not lightgit.admin_folder(project / ".git"):
        return "", {}
    try:
        commit = git.head(project).commit
        return (commit, git.tree(project, commit)) if commit else ("", {})
    except UsageError:
        return "", {}


def _walk(root: str, deadline: float) -> Iterator[tuple[Entry, str]]:
    """Each entry, files not read yet, with its absolute path."""
    waiting = [""]
    while waiting:
        where = waiting.pop()
        if time.monotonic() > deadline:
            raise TooLarge(f"{root} has too many files to be kept.")
        place = f"{root}/{where}" if where else root
        try:
            at = os.open(place, _FOLDER if where else _FOLDER & ~os.O_NOFOLLOW)
        except OSError:
            if not where:
                raise
            continue
        try:
            with os.scandir(at) as found:
                children = sorted(found, key=lambda e: e.name)
            environment = bool(where) and any(child.name == "pyvenv.cfg" for child in children)
            for child in children:
                path = f"{where}/{child.name}" if where else child.name
                if child.is_dir(follow_symlinks=False):
                    shared = child.name in DEPENDENCIES or (environment and child.name in ENVIRONMENT)
                    if not shared and child.name not in NEVER:
                        waiting.append(path)
                elif entry := _leaf(child, at, path):
                    yield entry, f"{root}/{path}"
            if where and not children:
                yield Entry(where, "folder", stat.S_IMODE(os.fstat(at).st_mode) & 0o777), place
        except OSError:
            continue
        finally:
            os.close(at)


def _leaf(child: os.DirEntry[str], at: int, path: str) -> Entry | None:
    try:
        status = child.stat(follow_symlinks=False)
        if stat.S_ISLNK(status.st_mode):
            target = os.readlink(child.name, dir_fd=at)
            return Entry(path, "link", 0, hashlib.sha256(os.fsencode(target)).hexdigest(), target=target)
    except OSError:
        return None
    if child.name == ".git" or not stat.S_ISREG(status.st_mode):
        return None
    return Entry(path, "file", stat.S_IMODE(status.st_mode) & 0o777, size=status.st_size)


def _read(place: str) -> bytes:
    """The bytes of a regular file. OSError, also for what is none."""
    fd = os.open(place, _FILE)
    with open(fd, "rb") as file:  # noqa: PTH123 - it is open already
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError("not a regular file")
        return file.read(HASHED + 1)


def _hashed(entry: Entry, data: bytes, known: str) -> Entry:
    digest = hashlib.sha256(data).hexdigest()
    own = known if known and known == git_id(data, len(known)) else ""
    return replace(entry, digest=digest, size=len(data), object=own)


def git_id(data: bytes, length: int = 40) -> str:
    """The id that git gives to a blob: SHA-1, or SHA-256 where ids have 64 digits."""
    kind = hashlib.sha256 if length == 64 else hashlib.sha1
    return kind(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _keep(files: list[_Loose], entries: list[Entry], deadline: float) -> bytes:
    """Puts the contents of `files` together and their entries, with the offsets, into `entries`."""
    pack, pieces, offsets, total = zlib.compressobj(1), [], {}, 0
    for file in sorted(files, key=lambda f: (f.entry.size, f.entry.path)):
        entry = file.entry
        if entry.digest not in offsets and total + entry.size <= MAX_BYTES:
            if time.monotonic() > deadline:
                raise TooLarge(f"{file.place} and others took too long to read.")
            data = _again(file) if file.data is None else file.data
            if data is not None:
                offsets[entry.digest] = total
                total += len(data)
                pieces.append(pack.compress(data))
        entries.append(replace(entry, offset=offsets.get(entry.digest, -1)))
    return b"".join(pieces) + pack.flush() if offsets else b""


def _again(file: _Loose) -> bytes | None:
    """The contents read once more; None if they changed since."""
    try:
        data = _read(file.place)
    except OSError:
        return None
    return data if hashlib.sha256(data).hexdigest() == file.entry.digest else None
