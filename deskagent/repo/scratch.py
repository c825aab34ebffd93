"""A private copy of the workspace in which tests run and candidates are tried.

Where the sandbox can mount, the copy is seen at the project's own path: editable installs, absolute paths in
configuration and compiled files all lead to it. Elsewhere it is seen where it is, and PYTHONPATH puts it
first. Environments and dependencies aren't copied: they are seen, read-only, in their real place. So is git's
folder where it can be mounted; elsewhere the copy has a light one of its own.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from deskagent.errors import TransientError, UsageError
from deskagent.repo import beneath, editable, lightgit
from deskagent.repo.copying import Copied, Skipped, copy_project
from deskagent.repo.lease import Lease, base_for, claim, sweep
from deskagent.repo.removing import remove_tree
from deskagent.terminal.sandbox import Sandbox
from deskagent.terminal.sandbox.visible import is_python
from deskagent.terminal.types import Policy, Rung

__all__ = ["Scratch", "Skipped", "make_scratch"]


@dataclass(frozen=True)
class _Original:
    data: bytes
    status: os.stat_result


class Scratch:
    """A private copy of a project; dirty, untracked and ignored files included. A context manager.

    `project`  what it is a copy of;
    `root`     where the copy really is;
    `seen_at`  where processes see it: the project's own path (bwrap), `root` itself (landlock, none);
    `policy`   ready for `spawn`;
    `env`      variables to add, so that editable installs resolve to the copy (landlock, none);
    `skipped`  what was not copied and why;
    `shared`   project-relative folders seen in their real place (environments, dependencies).
    """

    def __init__(
        self,
        lease: Lease,
        project: Path,
        root: Path,
        seen_at: Path,
        policy: Policy,
        env: Mapping[str, str],
        skipped: tuple[Skipped, ...],
        shared: tuple[str, ...],
    ) -> None:
        self.project = project
        self.root = root
        self.seen_at = seen_at
        self.policy = policy
        self.env = dict(env)
        self.skipped = skipped
        self.shared = shared
        self._lease = lease
        self._before: dict[tuple[str, ...], _Original | None] = {}

    def write(self, files: Mapping[str, bytes | None]) -> None:
        """Puts candidate contents in (None deletes), keyed by project-relative POSIX path.

        As in the real tree a file is replaced, its mode kept, and a hard link broken. What Python compiled
        from it is dropped: two candidates of one size in one second look the same to it. UsageError for a
        path that leads out of the copy.
        """
        for name, data in files.items():
            parts = beneath.resolve(self.root, name)
            if any(name == folder or name.startswith(f"{folder}/") for folder in self.shared):
                raise UsageError(f"{name} belongs to an environment.", hint="Dependencies are never edited.")
            self._change(parts, data)

    def restore(self) -> None:
        """Gives back the original bytes, modes and times of all that `write` touched."""
        while self._before:
            parts, original = next(iter(self._before.items()))
            self._put(parts, None if original is None else original.data, original and original.status)
            del self._before[parts]

    def relocated(self, argv: Sequence[str]) -> tuple[str, ...]:
        """`argv` with the project's own path turned to where the copy is seen, in words that are or begin with it."""
        if self.seen_at == self.project:
            return tuple(argv)
        own, seen = str(self.project), str(self.seen_at)
        return tuple(seen + word[len(own) :] if f"{word}/".startswith(f"{own}/") else word for word in argv)

    def close(self) -> None:
        """Deletes the copy, whatever the tests did to the modes in it."""
        self._lease.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _change(self, parts: tuple[str, ...], data: bytes | None) -> None:
        if parts not in self._before:
            with _damage(parts), beneath.folder(self.root, parts[:-1], create=data is not None) as at:
                found = beneath.read(at, parts[-1])
                self._before[parts] = _Original(*found) if found else None
        original = self._before[parts]
        self._put(parts, data, original and original.status, keep_time=False)

    def _put(
        self,
        parts: tuple[str, ...],
        data: bytes | None,
        status: os.stat_result | None,
        keep_time: bool = True,
    ) -> None:
        *folders, name = parts
        with _damage(parts), beneath.folder(self.root, tuple(folders), create=data is not None) as at:
            _let_write(at)
            _clear(self.root.joinpath(*parts), at, name, gone=data is None)
            if data is not None:
                temporary = f".{name[:200]}.deskagent"
                fd = os.open(
                    temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600, dir_fd=at
                )
                with os.fdopen(fd, "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fchmod(fd, stat.S_IMODE(status.st_mode) if status else 0o644)
                    if status and keep_time:
                        os.utime(fd, ns=(status.st_atime_ns, status.st_mtime_ns))
                os.rename(temporary, name, src_dir_fd=at, dst_dir_fd=at)
            if name.endswith(".py"):
                _drop_compiled(at, name.removesuffix(".py"))


def _let_write(at: int) -> None:
    """Opens a folder of the copy to its owner: the real one may be closed to the person, and then so is its copy."""
    mode = stat.S_IMODE(os.fstat(at).st_mode)
    if mode & stat.S_IRWXU != stat.S_IRWXU:
        os.fchmod(at, mode | stat.S_IRWXU)


def _clear(path: Path, at: int, name: str, *, gone: bool) -> None:
    """Takes away what the tests may have put at a file's place, and the file itself if it is to be gone."""
    try:
        status = os.stat(name, dir_fd=at, follow_symlinks=False)
    except FileNotFoundError:
        return
    if stat.S_ISDIR(status.st_mode):
        remove_tree(path)
    elif gone:
        os.unlink(name, dir_fd=at)


def _drop_compiled(at: int, stem: str) -> None:
    try:
        with beneath.folder(at, ("__pycache__",)) as cache:
            with os.scandir(cache) as entries:
                names = [entry.name for entry in entries]
            for name in names:
                if name.startswith(f"{stem}.") and name.endswith(".pyc"):
                    os.unlink(name, dir_fd=cache)
    except FileNotFoundError:
        return


@contextmanager
def _damage(parts: tuple[str, ...]) -> Iterator[None]:
    """Turns what the tests did to the copy's folders into an error that says so."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise TransientError(
            f"{'/'.join(parts)} can't be written in the scratch copy: {error.strerror}.",
            hint="Free some space." if full else "The tests changed the folders around it; try again.",
        ) from error


def make_scratch(
    project: Path, sandbox: Sandbox, *, interpreter: Path | None = None, pythonpath: str | None = None
) -> Scratch:
    """Copies `project` for runs under `sandbox`, after clearing away what killed runs left behind.

    `interpreter` is the Python that runs the tests, whose editable installs must lead to the copy;
    `pythonpath` the PYTHONPATH that the tests would have (default: our own). UsageError for a folder that is
    no project or an editable install that can't be redirected, TransientError where the disk is full.
    """
    project = project.resolve()
    _check(project)
    mounting = sandbox.rung is Rung.BWRAP
    sources = () if mounting or not interpreter else editable.check_editable(project, interpreter)
    base = base_for(project)
    sweep(base)
    lease = claim(base)
    try:
        root = lease.folder / project.name
        root.mkdir(mode=0o700)
        status = base.stat()
        done = copy_project(project, root, leave_out={(status.st_dev, status.st_ino)})
        needed = _homes(interpreter) if interpreter else ()
        if mounting:
            policy, env, seen_at = _mounted(project, root, done, needed), {}, project
        else:
            _link(project, root, done)
            policy, seen_at = Policy(writable=(root,), readable=needed), root
            inherited = os.environ.get("PYTHONPATH", "") if pythonpath is None else pythonpath
            env = _python_path(project, root, sources, inherited)
    except OSError as error:
        lease.release()
        raise TransientError(f"No scratch copy of {project}: {error}.", hint="Try again.") from error
    except BaseException:
        lease.release()
        raise
    return Scratch(lease, project, root, seen_at, policy, env, tuple(done.skipped), tuple(done.shared))


def _check(project: Path) -> None:
    home = Path.home().resolve()
    if project == home or project in home.parents:
        raise UsageError(
            f"{project} holds the home folder: too much, and too private, to copy for a test run.",
            hint="Start in the project's own folder.",
        )
    if not project.is_dir():
        raise UsageError(f"{project} is not a folder.", hint="Start in the project's own folder.")


def _homes(interpreter: Path) -> tuple[Path, ...]:
    """The folders that an interpreter needs to be seen, wherever they lie: its environment's and its own."""
    prefixes = (interpreter.parent.parent, interpreter.resolve().parent.parent)
    return tuple(p for p in dict.fromkeys(prefixes) if (p / "pyvenv.cfg").exists() or is_python(p))


def _mounted(project: Path, root: Path, done: Copied, needed: tuple[Path, ...]) -> Policy:
    """The copy over the project, and over the copy the real folders that only need to be read."""
    kept = [project / name for name in (*done.gits, *done.shared)]
    # A worktree's or submodule's git folder may lie in a /tmp that is masked, as may the environment.
    elsewhere = (*lightgit.folders(project), *needed)
    return Policy(
        mounts={root: project, **{path: path for path in kept}},
        read_only=tuple(kept),
        readable=tuple(path for path in elsewhere if not path.is_relative_to(project)),
    )


def _link(project: Path, root: Path, done: Copied) -> None:
    """Links to the real environments, light copies of git folders, absolute links turned towards the copy."""
    for name in done.shared:
        (root / name).rmdir()
        (root / name).symlink_to(project / name)
    for name in done.gits:
        admin = lightgit.admin_folder(project / name)
        if admin:
            lightgit.light_copy(admin, root / name, (root / name).parent)
    outer = root / ".git"
    if outer.is_file() and not outer.is_symlink():
        admin = lightgit.admin_folder(project / ".git")
        if admin:
            outer.unlink()
            lightgit.light_copy(admin, outer, root)
    for name in done.absolute_links:
        target = str((root / name).readlink())
        if target == str(project) or target.startswith(f"{project}/"):
            (root / name).unlink()
            (root / name).symlink_to(str(root) + target.removeprefix(str(project)))


def _python_path(project: Path, root: Path, sources: tuple[Path, ...], inherited: str) -> dict[str, str]:
    """PYTHONPATH with the copy's source folders first and inherited entries turned towards the copy."""
    entries = [str(root / source) for source in sources]
    for entry in filter(None, inherited.split(os.pathsep)):
        path = Path(os.path.normpath(entry))
        entries.append(str(root / path.relative_to(project)) if path.is_relative_to(project) else entry)
    unique = list(dict.fromkeys(entries))
    return {"PYTHONPATH": os.pathsep.join(unique)} if unique else {}
