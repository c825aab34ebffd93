"""Makes a fresh scratch copy hold a recorded tree instead of today's."""

from __future__ import annotations

import contextlib
import hashlib
import os
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from deskagent.errors import DeskagentError
from deskagent.repo import beneath, git, lightgit, snapshot
from deskagent.repo.scratch import Scratch
from deskagent.repo.snapshot import Entry
from deskagent.session import events
from deskagent.session.blobs import Blobs


def rebuild(
    scratch: Scratch, entries: Mapping[str, Entry], recorded: events.TreeRecorded, blobs: Blobs, project: Path
) -> list[str]:
    """Puts the recorded tree into `scratch`, a copy of `project` in which nothing has run yet.

    Contents come from files that are still the same today, from the session, and from git's objects. Returns
    the paths whose contents could not be had again: they are absent from the copy, but for files too large to
    have been read at all, which are as they are today.
    """
    today = dict(_present(scratch))
    for path, kind in today.items():
        if path not in entries or entries[path].kind != kind:
            _remove(scratch, path)
    _drop_empty(scratch, entries)  # a file or a link may have been where there is a folder now
    wanted: dict[str, list[Entry]] = {}
    lost: list[str] = []
    for path, entry in entries.items():
        there = today.get(path) == entry.kind
        if entry.kind == "link":
            _link(scratch, path, entry.target)
        elif entry.kind == "folder":
            with beneath.folder(scratch.root, tuple(path.split("/")), create=True) as at:
                os.fchmod(at, entry.mode)
        elif not entry.digest:
            lost.append(path)
        elif there and _digest(scratch, path) == entry.digest:
            _set_mode(scratch, path, entry.mode)
        else:
            wanted.setdefault(entry.digest, []).append(entry)
            if there:
                _remove(scratch, path)
    for digest, data in _contents(wanted, recorded, blobs, project):
        for entry in wanted.pop(digest, ()):
            scratch.write({entry.path: data})
            _set_mode(scratch, entry.path, entry.mode)
    _drop_empty(scratch, entries)
    return sorted(lost + [entry.path for group in wanted.values() for entry in group])


def _contents(
    wanted: Mapping[str, list[Entry]], recorded: events.TreeRecorded, blobs: Blobs, project: Path
) -> Iterator[tuple[str, bytes]]:
    """Digest and contents of what is wanted, as far as it is there and undamaged."""
    entries = [group[0] for group in wanted.values()]
    yield from _kept([entry for entry in entries if entry.offset >= 0], recorded.contents, blobs)
    by_id = {entry.object: entry.digest for entry in entries if entry.object}
    if by_id and lightgit.admin_folder(project / ".git"):
        with contextlib.suppress(git.GitError):  # what is still wanted then is reported as lost
            for name, data in git.contents(project, list(by_id)):
                if data is not None and hashlib.sha256(data).hexdigest() == by_id[name]:
                    yield by_id[name], data


def _kept(entries: list[Entry], name: str, blobs: Blobs) -> Iterator[tuple[str, bytes]]:
    if not entries or not name:
        return
    try:
        whole = zlib.decompress(blobs.get(name))
    except (DeskagentError, zlib.error):
        return
    for entry in entries:
        data = whole[entry.offset : entry.offset + entry.size]
        if hashlib.sha256(data).hexdigest() == entry.digest:
            yield entry.digest, data


def _present(scratch: Scratch) -> Iterator[tuple[str, str]]:
    """Path and kind of all that the copy holds; shared folders and git's own are passed over."""
    passed = {scratch.root / name for name in scratch.shared}
    for where, folders, files in os.walk(scratch.root):
        here = Path(where)
        cache = not snapshot.NEVER.isdisjoint(here.relative_to(scratch.root).parts)
        names = [name for name in folders if name != ".git" and here / name not in passed]
        folders[:] = [name for name in names if not (here / name).is_symlink()]
        for name in [*set(names).difference(folders), *files]:
            path = here / name
            if name != ".git" and path not in passed:
                kind = "cache" if cache else "link" if path.is_symlink() else "file"
                yield path.relative_to(scratch.root).as_posix(), kind


def _remove(scratch: Scratch, path: str) -> None:
    *folders, leaf = path.split("/")
    with beneath.folder(scratch.root, tuple(folders)) as at:
        os.unlink(leaf, dir_fd=at)


def _link(scratch: Scratch, path: str, target: str) -> None:
    *folders, leaf = path.split("/")
    with beneath.folder(scratch.root, tuple(folders), create=True) as at:
        with contextlib.suppress(FileNotFoundError):
            if os.readlink(leaf, dir_fd=at) == target:
                return
            os.unlink(leaf, dir_fd=at)
        os.symlink(target, leaf, dir_fd=at)


def _digest(scratch: Scratch, path: str) -> str:
    *folders, leaf = path.split("/")
    with beneath.folder(scratch.root, tuple(folders)) as at:
        found = beneath.read(at, leaf)
    return hashlib.sha256(found[0]).hexdigest() if found else ""


def _set_mode(scratch: Scratch, path: str, mode: int) -> None:
    *folders, leaf = path.split("/")
    with beneath.folder(scratch.root, tuple(folders)) as at:
        fd = beneath.open_regular(at, leaf)
        try:
            os.fchmod(fd, mode)
        finally:
            os.close(fd)


def _drop_empty(scratch: Scratch, entries: Mapping[str, Entry]) -> None:
    """Removes folders that are empty now and were not then."""
    passed = {scratch.root / name for name in scratch.shared}
    kept = {path for path, entry in entries.items() if entry.kind == "folder"}
    for folder in sorted(_folders(scratch, passed), key=lambda p: len(p.parts), reverse=True):
        if folder.relative_to(scratch.root).as_posix() not in kept:
            with contextlib.suppress(OSError):  # not empty
                folder.rmdir()


def _folders(scratch: Scratch, passed: set[Path]) -> Iterator[Path]:
    for where, folders, _ in os.walk(scratch.root):
        folders[:] = [name for name in folders if name != ".git" and Path(where, name) not in passed]
        yield from (Path(where, name) for name in folders if not Path(where, name).is_symlink())
