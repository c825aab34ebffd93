"""The files of a project that are worth reading as source: regular, not ignored, not binary, not huge.

In a git work tree git says which files count (submodules are asked in turn); elsewhere `.gitignore` files are
obeyed all the same, and what is never source (caches, dependencies, environments) is passed over. Links are
not followed, so a walk can't leave the project or loop.
"""

from __future__ import annotations

import itertools
import logging
import os
import stat
from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deskagent.errors import UsageError
from deskagent.repo import beneath, git, lightgit

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_log = logging.getLogger(__name__)

MAX_BYTES = 4 << 20
"""Larger files are data or generated."""

MAX_FILES = 200_000
"""A walk that finds more stops there, and says so."""

_ENTRIES_PER_FILE = 5  # how many names are looked at for every one that may be kept
_SNIFF = 8192
_TEXT_MARKS = (b"\xff\xfe", b"\xfe\xff")  # UTF-16 is full of NULs, and text all the same
_NEVER = {
    *(".git", ".hg", ".svn", ".bzr"),
    *("__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis"),
    *("node_modules", "__pypackages__", "site-packages", ".eggs", ".tox", ".nox", ".venv", "venv", ".direnv"),
}


@dataclass(frozen=True)
class Walk:
    """What was found: project-relative POSIX paths, sorted; those passed over with the reason in words."""

    files: tuple[str, ...]
    skipped: tuple[tuple[str, str], ...] = ()
    complete: bool = True


def walk(project: Path, *, max_files: int = MAX_FILES) -> Walk:
    """The text files of `project`. Names that aren't UTF-8 hold surrogate escapes."""
    files: list[str] = []
    skipped: list[tuple[str, str]] = []
    found, complete = names(project, limit=_ENTRIES_PER_FILE * max_files)
    for name in found:
        if len(files) >= max_files:
            complete = False
            break
        try:
            why = _unfit(project, name)
        except FileNotFoundError:
            continue  # tracked, but deleted from the work tree
        except OSError as error:
            why = error.strerror or "unreadable"
        if why is None:
            files.append(name)
        elif why:
            skipped.append((name, why))
    return Walk(tuple(files), tuple(skipped), complete)


def names(
    project: Path, *, limit: int = _ENTRIES_PER_FILE * MAX_FILES, known: Container[str] = frozenset()
) -> tuple[list[str], bool]:
    """Paths that may be source, by their names alone, sorted; and whether that is all of them.

    Nothing is looked at: folders, links, special and deleted files may be among them. `known` to be files
    need not be asked whether they are repositories inside this one.
    """
    found = sorted(set(itertools.islice(_names(project, known), limit)))
    environments = tuple(name.removesuffix("pyvenv.cfg") for name in found if name.endswith("/pyvenv.cfg"))
    kept = [
        name for name in found if not name.startswith(environments) and _NEVER.isdisjoint(name.split("/"))
    ]
    return kept, len(found) < limit


def _unfit(project: Path, name: str) -> str | None:
    """Why a file is not source, None if it is; empty where it goes without saying (folders, links)."""
    *folders, leaf = name.split("/")
    with beneath.folder(project, tuple(folders)) as at:
        status = os.stat(leaf, dir_fd=at, follow_symlinks=False)
        if stat.S_ISDIR(status.st_mode) or stat.S_ISLNK(status.st_mode):
            return ""
        if not stat.S_ISREG(status.st_mode):
            return "a special file"
        if status.st_size > MAX_BYTES:
            return f"{status.st_size} bytes, over {MAX_BYTES}"
        found = beneath.read(at, leaf, _SNIFF)
    if found and b"\0" in found[0] and not found[0].startswith(_TEXT_MARKS):
        return "binary"
    return None


def _names(project: Path, known: Container[str] = frozenset()) -> Iterator[str]:
    """Paths of files, by git where it can be asked, else from the disk."""
    if lightgit.admin_folder(project / ".git"):
        try:
            listed = git.ls_files(project)
        except UsageError as error:
            _log.info("files are read from disk: %s", error)
        else:
            return _by_git(project, listed, known)
    return _by_disk(project)


def _by_git(repo: Path, listed: tuple[str, ...], known: Container[str]) -> Iterator[str]:
    """Tracked and not ignored files, those of submodules and of other repositories inside included."""
    base = f"{repo}/"
    for name in listed:
        yield name
        if name in known:
            continue
        place = f"{base}{name}"  # plain strings: this runs for every file of the project
        if os.path.isdir(place) and not os.path.islink(place):  # noqa: PTH112, PTH114
            yield from (f"{name.rstrip('/')}/{below}" for below in _names(Path(place)))


def _by_disk(project: Path) -> Iterator[str]:
    """Files that no `.gitignore` on the way down ignores; those of the deepest folder have the last word."""
    waiting: list[tuple[str, tuple[tuple[str, GitIgnoreSpec], ...]]] = [("", ())]
    while waiting:
        where, rules = waiting.pop()
        prefix = f"{where}/" if where else ""
        try:
            with beneath.folder(project, tuple(where.split("/")) if where else ()) as at:
                with os.scandir(at) as found:
                    entries = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in found]
                own = _ignore_file(at) if any(name == ".gitignore" for name, _ in entries) else None
        except OSError as error:
            _log.info("%s is passed over: %s", where, error)
            continue
        if where and ("pyvenv.cfg", False) in entries:
            continue
        if own is not None:
            rules = ((prefix, own), *rules)
        for name, is_folder in entries:
            path = f"{prefix}{name}"
            if name in _NEVER or _ignored(f"{path}/" if is_folder else path, rules):
                continue
            if is_folder:
                waiting.append((path, rules))
            else:
                yield path


def _ignored(path: str, rules: tuple[tuple[str, GitIgnoreSpec], ...]) -> bool:
    for prefix, spec in rules:
        verdict = spec.check_file(path[len(prefix) :]).include
        if verdict is not None:
            return verdict
    return False


def _ignore_file(at: int) -> GitIgnoreSpec | None:
    from pathspec import GitIgnoreSpec

    try:
        found = beneath.read(at, ".gitignore", 1 << 20)
        return GitIgnoreSpec.from_lines(os.fsdecode(found[0]).splitlines()) if found else None
    except (OSError, UsageError, ValueError) as error:
        _log.info("a .gitignore is not obeyed: %s", error)
        return None
