"""What a command sees at each path: a policy turned into mounts, outer before inner."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from deskagent.terminal.sandbox.base import SandboxError
from deskagent.terminal.sandbox.disk import exists, is_dir, is_link
from deskagent.terminal.sandbox.placeholders import Placeholders, is_placeholder
from deskagent.terminal.types import Policy


class Kind(Enum):
    """What lies at a path; where two are asked for at one path, the later in this list wins."""

    FRESH = 0  # an empty folder of the command's own
    PIN = 1  # the folder itself, writable; as a mount it can't be renamed
    BIND = 2  # a folder, writable
    VISIBLE = 3  # the real file or folder, read-only
    READ_ONLY = 4  # the real file or folder, read-only
    HIDDEN_FILE = 5  # nothing, unreadable
    HIDDEN_FOLDER = 6  # an empty folder, read-only


@dataclass(frozen=True)
class Mount:
    """`source` of the host (unused for FRESH and HIDDEN_…) as it is seen at a path."""

    kind: Kind
    source: Path


_FRESH_FOLDERS = ("/tmp", "/run", "/var/tmp", "/var/run")


class Plan:
    """The mounts of one command. Built once; `clean_up` when the command is gone."""

    def __init__(self) -> None:
        self.mounts: dict[Path, Mount] = {}
        self._roots: dict[Path, Placeholders] = {}
        self._sockets: list[Path] = []

    @classmethod
    def of(
        cls, policy: Policy, *, visible: Iterable[Path], hidden: Iterable[Path], sockets: Iterable[Path] = ()
    ) -> Plan:
        """The plan for `policy`; `visible`, `hidden` and `sockets` (hidden too) are real paths of the host.

        Raises SandboxError where a folder is missing or a path can't be protected.
        """
        plan = cls()
        for name in _FRESH_FOLDERS:
            if is_dir(Path(name)):
                plan._put(_real(Path(name)), Kind.FRESH, Path(name))
        # What a workspace holds is seen as the workspace is: the real one over it would undo the copy.
        work = [_real(path) for path in (*policy.writable, *policy.mounts.values())]
        for path in map(_real, (*visible, *policy.readable)):
            if not any(path.is_relative_to(folder) for folder in work):
                plan._show(path)
        for path in policy.writable:
            plan._bind(path, path)
        for source, seen in policy.mounts.items():
            plan._bind(source, seen)
        try:
            for path in policy.read_only:
                plan._protect(_real(path.parent) / path.name)
            for path in hidden:
                plan._hide(path)
            for path in sockets:
                plan._hide(path)
                if path in plan.mounts:
                    plan._sockets.append(plan.mounts[path].source)
        except BaseException:
            plan.clean_up()
            raise
        return plan

    def ordered(self) -> list[tuple[Path, Mount]]:
        """Path and mount, every folder before what lies in it."""
        return sorted(self.mounts.items(), key=lambda item: (len(item[0].parts), item[0]))

    def above(self, path: Path) -> Path | None:
        """The innermost mount that `path` lies in, or is."""
        return next((p for p in (path, *path.parents) if p in self.mounts), None)

    def shows(self, path: Path) -> bool:
        """Whether what the host has at `path` can be seen."""
        above = self.above(path)
        if above is None:
            return True
        kind = self.mounts[above].kind
        return kind in (Kind.PIN, Kind.BIND, Kind.VISIBLE, Kind.READ_ONLY)

    def clean_up(self) -> None:
        """Removes what the mounts needed to lie on."""
        for placeholders in self._roots.values():
            placeholders.remove()
        for path in self._sockets:
            if _is_mount_point(path):
                with contextlib.suppress(OSError):  # not ours to remove, or gone
                    path.unlink()

    def _put(self, path: Path, kind: Kind, source: Path) -> None:
        there = self.mounts.get(path)
        if there is None or there.kind.value < kind.value:
            self.mounts[path] = Mount(kind, source)

    def _show(self, path: Path) -> None:
        above = self.above(path)
        if above is not None and above != path and exists(path):
            self._put(path, Kind.VISIBLE, path)

    def _bind(self, source: Path, seen: Path) -> None:
        if not is_dir(source) or not is_dir(seen):
            raise SandboxError(
                f"{source if not is_dir(source) else seen} is not a folder, so it can't be made writable."
            )
        source, seen = _real(source), _real(seen)
        if seen == Path("/"):
            raise SandboxError("The whole disk can't be made writable.", hint="Name the folder you work in.")
        self.mounts[seen] = Mount(Kind.BIND, source)

    def _root(self, path: Path) -> Path | None:
        """The writable folder that `path` lies in, or is."""
        return next((p for p in (path, *path.parents) if p in self.mounts and self._binds(p)), None)

    def _binds(self, path: Path) -> bool:
        return self.mounts[path].kind is Kind.BIND

    def _protect(self, path: Path) -> None:
        root = self._root(path)
        if root is None:  # read-only as it is
            return
        source = self.mounts[root].source
        at, real = root, source
        for name in path.relative_to(root).parts:
            at, real = at / name, real / name
            if is_link(real):
                self._protect_link(root, at, real, rest=path.relative_to(at))
                return
            if is_placeholder(real) or not os.path.lexists(real):
                if self._roots.setdefault(source, Placeholders(source)).add(real):
                    self._put(at, Kind.READ_ONLY, real)
                return
            if at == path or not is_dir(real):
                break
            self._put(at, Kind.PIN, real)
        self._put(at, Kind.READ_ONLY, real)

    def _protect_link(self, root: Path, link: Path, real: Path, rest: Path) -> None:
        """A link can't be mounted over: what it points to is protected. In a copy that is thrown away that is
        enough; in a real workspace the link could be replaced."""
        source = self.mounts[root].source
        if source == root:
            raise SandboxError(
                f"{link} is a symbolic link, and those can't be protected.",
                hint="Replace it by the file or folder it points to.",
            )
        target = _real(real / rest)
        if target.is_relative_to(source) and target != source:
            self._protect(root / target.relative_to(source))

    def _hide(self, path: Path) -> None:
        if not self.shows(path):
            return
        above = self.above(path)
        source = path if above is None else self.mounts[above].source / path.relative_to(above)
        if is_link(source) or not exists(source):
            return
        kind = Kind.HIDDEN_FOLDER if is_dir(source) else Kind.HIDDEN_FILE
        self._put(path, kind, source)


def _is_mount_point(path: Path) -> bool:
    """Whether an empty file lies there as bubblewrap makes it to mount on: where a socket went away just then."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_size == 0 and stat.S_IMODE(found.st_mode) == 0o444


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
