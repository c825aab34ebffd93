"""Copies a project's folder: fast, faithful, and never following a link out of it."""

# ruff: noqa: PTH101, PTH106

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from deskagent.errors import TransientError

HUGE = 100 << 20  # bytes; larger files are left out and reported

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

_FULL = {errno.ENOSPC, errno.EDQUOT}
_NO_KERNEL_COPY = {errno.EXDEV, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL, errno.EPERM, errno.ETXTBSY}
_CHECK_SPACE_EVERY = 32 << 20
_RESERVE = 256 << 20  # bytes that are left free for everybody else, at most a fiftieth of the disk

DEPENDENCIES = {"node_modules", "__pypackages__"}
ENVIRONMENT = {"lib", "lib64", "bin", "include", "share"}  # a venv's heavy folders; tox writes beside them
CACHES = {".mypy_cache", ".ruff_cache", ".pyre", ".pytype"}  # no test reads them

_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


@dataclass(frozen=True)
class Skipped:
    """Something that the copy lacks: project-relative path and the reason in words."""

    path: str
    why: str


@dataclass
class Copied:
    """What a copy came to: what was left out; the project-relative folders that were made but left empty
    (`shared`, environments and dependencies to be seen in their real place; `gits`, git's own folders); the
    symlinks with an absolute target; how much was copied."""

    skipped: list[Skipped] = field(default_factory=list)
    shared: list[str] = field(default_factory=list)
    gits: list[str] = field(default_factory=list)
    absolute_links: list[str] = field(default_factory=list)
    files: int = 0
    bytes: int = 0


def copy_project(source: Path, target: Path, *, leave_out: Collection[tuple[int, int]] = ()) -> Copied:
    """Copies the folder `source` into the existing empty folder `target`.

    Kept: contents, permission bits, times to the nanosecond (compiled Python files stay valid), symlinks as
    they are, hard links among the copied. Left out and reported: special files, files over `HUGE`, what can't
    be read, folders whose (device, inode) is in `leave_out`. TransientError where the disk is full.
    """
    return _Copier(source, target, leave_out).run()


class _Copier:
    def __init__(self, source: Path, target: Path, leave_out: Collection[tuple[int, int]]) -> None:
        self.source, self.target, self.leave_out = str(source), str(target), leave_out
        self.done = Copied()
        self.links: dict[tuple[int, int], str] = {}  # inode with several names → its first copy
        self.next_check = 0
        self.kernel_copies = True

    def run(self) -> Copied:
        """Folders first to last; their modes and times last to first, when all in them is done."""
        statuses: list[tuple[str, os.stat_result]] = []
        waiting = [""]
        try:
            self._check_space()
            while waiting:
                where = waiting.pop()
                try:
                    at = os.open(
                        self._join(self.source, where), _FOLDER if where else _FOLDER & ~os.O_NOFOLLOW
                    )
                except OSError as error:
                    if not where:
                        raise
                    self._skip(where, error)
                    continue
                try:
                    status = os.fstat(at)
                    if (status.st_dev, status.st_ino) in self.leave_out:
                        self._skip(where, "deskagent's own scratch folder")
                        os.rmdir(self._join(self.target, where))
                        continue
                    statuses.append((where, status))
                    waiting += reversed(list(self._folder(where, at)))
                finally:
                    os.close(at)
            for where, status in reversed(statuses):
                path = self._join(self.target, where)
                os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
                os.chmod(path, stat.S_IMODE(status.st_mode) & 0o777)
        except OSError as error:
            raise TransientError(
                f"The project could not be copied to {self.target}: {error.strerror}.",
                hint="Free some space, or set TMPDIR or DESKAGENT_HOME to a disk that has it.",
            ) from error
        return self.done

    def _folder(self, where: str, source: int) -> Iterator[str]:
        """Copies what lies directly in a folder; yields the folders in it that are to be copied next."""
        target = os.open(self._join(self.target, where), _FOLDER)
        try:
            with os.scandir(source) as found:
                entries = list(found)
            names = {entry.name for entry in entries}
            environment = bool(where) and "pyvenv.cfg" in names
            for entry in entries:
                path = f"{where}/{entry.name}" if where else entry.name
                try:
                    if not entry.is_dir(follow_symlinks=False):
                        self._leaf(entry, source, target, path)
                        continue
                    if entry.name in CACHES:
                        continue
                    os.mkdir(entry.name, 0o700, dir_fd=target)
                    if entry.name == ".git":
                        self.done.gits.append(path)
                    elif entry.name in DEPENDENCIES or (environment and entry.name in ENVIRONMENT):
                        self.done.shared.append(path)
                    else:
                        yield path
                except OSError as error:
                    if error.errno in _FULL:
                        raise
                    self._skip(path, error)
        except PermissionError as error:
            self._skip(where, error)
        finally:
            os.close(target)

    def _leaf(self, entry: os.DirEntry[str], source: int, target: int, path: str) -> None:
        status = entry.stat(follow_symlinks=False)
        kind = stat.S_IFMT(status.st_mode)
        if kind == stat.S_IFLNK:
            leads_to = os.readlink(entry.name, dir_fd=source)
            os.symlink(leads_to, entry.name, dir_fd=target)
            if leads_to.startswith("/"):
                self.done.absolute_links.append(path)
            os.utime(
                entry.name, ns=(status.st_atime_ns, status.st_mtime_ns), dir_fd=target, follow_symlinks=False
            )
            return
        if kind != stat.S_IFREG:
            self._skip(path, f"{_KINDS.get(kind, 'a special file')}, not copied")
            return
        if status.st_size > HUGE:
            self._skip(path, f"{status.st_size >> 20} MiB, over {HUGE >> 20} MiB")
            return
        if status.st_nlink > 1:
            first = self.links.setdefault((status.st_dev, status.st_ino), path)
            if first != path:
                os.link(self._join(self.target, first), entry.name, dst_dir_fd=target, follow_symlinks=False)
                return
        try:
            self._file(entry.name, source, target)
        except OSError:
            self.links.pop((status.st_dev, status.st_ino), None)
            raise

    def _file(self, name: str, source: int, target: int) -> None:
        reading = os.open(name, _READ, dir_fd=source)
        try:
            status = os.fstat(reading)
            if not stat.S_ISREG(status.st_mode):  # swapped since it was listed
                raise OSError(errno.EAGAIN, "it changed while it was copied")
            writing = os.open(name, _WRITE, 0o600, dir_fd=target)
            try:
                self._contents(reading, writing, min(status.st_size, HUGE))
                os.fchmod(writing, stat.S_IMODE(status.st_mode) & 0o777)
                os.utime(writing, ns=(status.st_atime_ns, status.st_mtime_ns))
            except OSError:
                os.unlink(name, dir_fd=target)  # not half a file
                raise
            finally:
                os.close(writing)
        finally:
            os.close(reading)
        self.done.files += 1

    def _contents(self, reading: int, writing: int, size: int) -> None:
        """Copies `size` bytes, fewer if the file shrinks meanwhile. The kernel shares blocks where it can."""
        left = size
        while left:
            try:
                moved = os.copy_file_range(reading, writing, left) if self.kernel_copies else -1
            except OSError as error:
                if error.errno not in _NO_KERNEL_COPY:
                    raise
                self.kernel_copies = False
                continue
            if moved < 0:
                data = os.read(reading, min(left, 1 << 20))
                moved = len(data)
                while data:
                    data = data[os.write(writing, data) :]
            if not moved:
                break
            left -= moved
            self.done.bytes += moved
            if self.done.bytes >= self.next_check:
                self._check_space()

    def _check_space(self) -> None:
        self.next_check = self.done.bytes + _CHECK_SPACE_EVERY
        disk = os.statvfs(self.target)
        if disk.f_bavail * disk.f_frsize < min(_RESERVE, disk.f_blocks * disk.f_frsize // 50):
            raise OSError(errno.ENOSPC, "the disk is nearly full")

    def _skip(self, path: str, why: OSError | str) -> None:
        text = why if isinstance(why, str) else f"can't be copied: {why.strerror}"
        self.done.skipped.append(Skipped(path, text))

    @staticmethod
    def _join(base: str, where: str) -> str:
        return f"{base}/{where}" if where else base
