"""What a commit held where it differs from the work tree: the files to set in a copy, to have that commit's sources.

Tests and the settings that they run by stay as they are now: the failing test is often younger than the commit.
Untracked and ignored files stay too; they are what the project is run with.
"""

from __future__ import annotations

import stat
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from deskagent.repair.places import is_test
from deskagent.repo import git, history
from deskagent.repo.history import Changed, Commit

MOST_FILES = 5000
MOST_BYTES = 256 << 20
"""A commit further away than this isn't tried."""
_LARGEST = 32 << 20  # bytes of one file
_SETTINGS = {
    *(
        "pytest.ini",
        ".pytest.ini",
        "tox.ini",
        "setup.cfg",
        "pyproject.toml",
        "setup.py",
        "noxfile.py",
        ".coveragerc",
    ),
    *("Makefile", "makefile", "GNUmakefile", "package.json"),
}
_LFS = b"version https://git-lfs.github.com/spec/"


@dataclass(frozen=True)
class Difference:
    """A file then and now, None where it is absent."""

    then: bytes | None
    now: bytes | None


class TooFar(Exception):
    """A commit differs in more than is worth trying."""


class Trees:
    """Reads commits of the repository at `project` as differences to its work tree. `left_out` are paths that can't
    be set as they were, with the reason in words."""

    def __init__(self, project: Path, head: Commit) -> None:
        self.project = project
        self.head = head
        self.left_out: dict[str, str] = {}
        self._uncommitted = {entry.path: entry for entry in history.uncommitted(project)}
        self._blobs: dict[str, bytes | None] = {}

    @property
    def dirty(self) -> bool:
        """Whether tracked sources differ from HEAD."""
        return bool(self.since(self.head))

    def since(self, commit: Commit) -> dict[str, Difference]:
        """Path → difference, for every source that isn't now what it was in `commit`. GitError, TooFar."""
        entries = {entry.path: entry for entry in history.changed(self.project, commit.id, self.head.id)}
        if len(entries) + len(self._uncommitted) > MOST_FILES:
            raise TooFar
        for path, entry in self._uncommitted.items():
            # HEAD's blob stands for both, unless the commit has another one.
            entries.setdefault(path, replace(entry, after=entry.before))
        wanted = [entry for path, entry in entries.items() if not _stays(path)]
        self._load(name for entry in wanted for name in (entry.before, entry.after) if name is not None)
        found: dict[str, Difference] = {}
        for entry in wanted:
            difference = self._difference(entry)
            if difference is not None and difference.then != difference.now:
                found[entry.path] = difference
        return found

    def lines_of(self, commit: Commit) -> dict[str, tuple[Counter[str], Counter[str]]]:
        """Path → lines that a commit took away from its first parent, and lines that it brought, without indentation.
        GitError, TooFar."""
        entries = [
            entry for entry in history.changed(self.project, commit.parents[0], commit.id) if entry.plain
        ]
        self._load(name for entry in entries for name in (entry.before, entry.after) if name is not None)
        found: dict[str, tuple[Counter[str], Counter[str]]] = {}
        for entry in entries:
            before, after = (_stripped(self._blobs.get(name or "")) for name in (entry.before, entry.after))
            found[entry.path] = (before - after, after - before)
        return found

    def _difference(self, entry: Changed) -> Difference | None:
        now, odd = _read(self.project / entry.path)
        then = self._blobs.get(entry.before) if entry.before else None
        head = self._blobs.get(entry.after) if entry.after else None
        if not entry.plain or odd:
            reason = odd or "it is a link or a submodule"
        elif (entry.before and then is None) or (entry.after and head is None):
            reason = "its old contents are not in this clone, or too large"
        elif any(data is not None and data.startswith(_LFS) for data in (then, head)):
            reason = "Git LFS keeps it elsewhere"
        elif head is not None and now is not None and head != now and _by_line_feeds(head) and _by_crlf(now):
            return Difference(then.replace(b"\n", b"\r\n") if then and _by_line_feeds(then) else then, now)
        elif head is not None and now is not None and head != now and entry.path not in self._uncommitted:
            reason = "git changes its contents when it is checked out"
        else:
            return Difference(then, now)
        self.left_out[entry.path] = reason
        return None

    def _load(self, names: Iterable[str]) -> None:
        lacking = [name for name in dict.fromkeys(names) if name not in self._blobs]
        total = sum(len(data) for data in self._blobs.values() if data)
        for name, data in git.contents(self.project, lacking) if lacking else ():
            self._blobs[name] = data if data is not None and len(data) <= _LARGEST else None
            total += len(data or b"")
            if total > MOST_BYTES:
                self._blobs.clear()
                raise TooFar


def then(differences: Mapping[str, Difference]) -> dict[str, bytes | None]:
    """The files to set, those to be gone first."""
    gone: dict[str, bytes | None] = {
        path: None for path, change in differences.items() if change.then is None
    }
    return gone | {path: change.then for path, change in differences.items() if change.then is not None}


def _stripped(data: bytes | None) -> Counter[str]:
    return Counter(line.strip() for line in (data or b"").decode("utf-8", "replace").splitlines())


def _stays(path: str) -> bool:
    return is_test(path) or PurePosixPath(path).name in _SETTINGS


def _by_line_feeds(data: bytes) -> bool:
    return b"\r\n" not in data


def _by_crlf(data: bytes) -> bool:
    return b"\r\n" in data and data.count(b"\r\n") == data.count(b"\n")


def _read(path: Path) -> tuple[bytes | None, str]:
    """A file's bytes, None if there is none; why it can't be had."""
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            return None, "it is no plain file"
        if status.st_size > _LARGEST:
            return None, f"it has over {_LARGEST >> 20} MiB"
        return path.read_bytes(), ""
    except (FileNotFoundError, NotADirectoryError):
        return None, ""
    except OSError as error:
        return None, f"it can't be read: {error.strerror}"
