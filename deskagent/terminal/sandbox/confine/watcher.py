"""Decides the system calls that Landlock has no opinion on: mode, owner and times of files, sockets, terminals.

The kernel stops the caller and asks here (seccomp user notification). The answer is never "let it through",
since the caller could swap the path in its memory meanwhile: what is allowed is done here, on a descriptor
that was opened once and whose place was looked at after opening. It is allowed below the writable folders.
"""

# ruff: noqa: PTH101, PTH115, PTH123 (pathlib costs more to import than all of this)

from __future__ import annotations

import _socket as socket
import _thread
import errno
import fcntl
import os
import select
import stat
import struct

import kernel

_RECEIVE, _SEND, _VALID, _ADD = 0xC0502100, 0xC0182101, 0x40082102, 0x40182103  # SECCOMP_IOCTL_NOTIF_…
_OPEN_PEER = 0x5441  # TIOCGPTPEER
_AT_FDCWD, _NO_FOLLOW, _EMPTY_PATH = -100, 0x100, 0x1000
_PATH_MAX = 4096
_UNIX_NAME_MAX = 108
_SETUID_SETGID = 0o6000


def watch(listener: int, command: int, watched: dict[int, str], writable: list[str]) -> None:
    """Answers until process `command` has ended. `watched` are the names of the system calls by number."""
    pidfd = os.pidfd_open(command)
    poller = select.poll()
    poller.register(listener, select.POLLIN)
    poller.register(pidfd, select.POLLIN)
    below = tuple(folder.rstrip("/") + "/" for folder in writable)
    while True:
        ready = dict(poller.poll())
        if pidfd in ready:
            return
        if ready[listener] & select.POLLIN:
            call = _receive(listener, watched, below)
            if call is not None and call.name == "connect":  # may wait for the other side
                _thread.start_new_thread(call.answer, ())
            elif call is not None:
                call.answer()


def _receive(listener: int, watched: dict[int, str], below: tuple[str, ...]) -> Call | None:
    data = bytearray(80)
    try:
        fcntl.ioctl(listener, _RECEIVE, data, True)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.EINTR):  # the caller was killed meanwhile
            return None
        raise
    notice, thread, _, number, _, _, *arguments = struct.unpack("=QIIiIQ6Q", data)
    return Call(listener, notice, thread, watched.get(number, ""), arguments, below)


class Call:
    """One system call that waits for its answer."""

    def __init__(
        self, listener: int, notice: int, thread: int, name: str, arguments: list[int], below: tuple[str, ...]
    ) -> None:
        self.name = name
        self._listener = listener
        self._notice = notice
        self._thread = thread
        self._arguments = arguments
        self._below = below

    def answer(self) -> None:
        """Does what is asked if it is allowed, and lets the caller go on with the outcome."""
        code, value = 0, 0
        try:
            value = _HANDLERS[self.name](self) or 0
        except OSError as error:
            code = error.errno or errno.EPERM
        except (KeyError, ValueError, OverflowError, struct.error):
            code = errno.EINVAL
        try:
            fcntl.ioctl(self._listener, _SEND, struct.pack("=QqiI", self._notice, value, -code, 0))
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.EINTR):
                raise

    def number(self, index: int) -> int:
        """Argument `index` as a signed integer of 32 bits."""
        value = self._arguments[index] & 0xFFFFFFFF
        return value - (1 << 32) if value >= 1 << 31 else value

    def memory(self, index: int, most: int, *, least: int = 1) -> bytes:
        """Up to `most` bytes of the caller's memory at the address in argument `index`."""
        fd = os.open(f"/proc/{self._thread}/mem", os.O_RDONLY | os.O_CLOEXEC)
        try:
            self.still_there()
            data = os.pread(fd, most, self._arguments[index])
        except OSError as error:
            raise OSError(errno.EFAULT if error.errno == errno.EIO else error.errno, "memory") from None
        finally:
            os.close(fd)
        if len(data) < least:
            raise OSError(errno.EFAULT, "memory")
        return data

    def is_null(self, index: int) -> bool:
        """Whether argument `index` is no address."""
        return self._arguments[index] == 0

    def path(self, index: int) -> bytes:
        """The path at the address in argument `index`."""
        text, end, _ = self.memory(index, _PATH_MAX).partition(b"\0")
        if not end:
            raise OSError(errno.ENAMETOOLONG, "path")
        return text

    def still_there(self) -> None:
        """Raises OSError if the caller is gone: its number could be another process's by now."""
        fcntl.ioctl(self._listener, _VALID, struct.pack("=Q", self._notice))

    def open(self, folder: int, path: bytes, *, follow: bool = True, empty: bool = False) -> int:
        """A descriptor (O_PATH) of what the caller means; EPERM unless it lies below a writable folder."""
        flags = os.O_PATH | os.O_CLOEXEC
        if not path and not empty:
            raise OSError(errno.ENOENT, "path")
        name = "cwd" if folder == _AT_FDCWD else f"fd/{folder}"
        if path.startswith(b"/"):
            fd = os.open(self._own(path), flags | (0 if follow else os.O_NOFOLLOW))
        else:
            base = os.open(f"/proc/{self._thread}/{name}", flags)
            if not path:
                fd = base
            else:
                try:
                    fd = os.open(path, flags | (0 if follow else os.O_NOFOLLOW), dir_fd=base)
                finally:
                    os.close(base)
        try:
            self.still_there()
            place = os.readlink(f"/proc/self/fd/{fd}") + "/"
            if not place.startswith(self._below):
                raise OSError(errno.EPERM, "outside")
        except BaseException:
            os.close(fd)
            raise
        return fd

    def _own(self, path: bytes) -> bytes:
        """`path` with the caller's /proc/self in place of ours."""
        for ours, theirs in (
            (b"/proc/self/", f"/proc/{self._thread}/"),
            (b"/proc/thread-self/", f"/proc/{self._thread}/"),
            (b"/dev/fd/", f"/proc/{self._thread}/fd/"),
        ):
            if path.startswith(ours):
                return os.fsencode(theirs) + path[len(ours) :]
        return path

    def descriptor(self, index: int) -> int:
        """A descriptor of ours for what the caller's in argument `index` stands for."""
        with open(f"/proc/{self._thread}/status", "rb") as file:
            leader = next(int(line.split()[1]) for line in file if line.startswith(b"Tgid:"))
        pidfd = os.pidfd_open(leader)
        try:
            self.still_there()
            return kernel.descriptor_of(pidfd, self.number(index))
        finally:
            os.close(pidfd)

    def give(self, fd: int, flags: int) -> int:
        """Opens `fd` in the caller too, and returns its number there."""
        request = bytearray(struct.pack("=QIIII", self._notice, 0, fd, 0, flags))
        return fcntl.ioctl(self._listener, _ADD, request, True)


def _change_mode(call: Call, fd: int, mode: int) -> None:
    mode &= 0o7777
    if mode & _SETUID_SETGID and stat.S_ISREG(os.fstat(fd).st_mode):
        raise OSError(errno.EPERM, "setuid")
    os.chmod(f"/proc/self/fd/{fd}", mode)


def _change_owner(call: Call, fd: int, user: int, group: int) -> None:
    os.chown(f"/proc/self/fd/{fd}", user, group)


def _change_times(call: Call, fd: int, times: bytes | None) -> None:
    kernel.set_times(f"/proc/self/fd/{fd}", times)


def _on(
    call: Call, change, folder: int, path: bytes, *arguments, follow: bool = True, empty: bool = False
) -> None:
    fd = call.open(folder, path, follow=follow, empty=empty)
    try:
        change(call, fd, *arguments)
    finally:
        os.close(fd)


def _flags(flags: int) -> dict[str, bool]:
    if flags & ~(_NO_FOLLOW | _EMPTY_PATH):
        raise OSError(errno.EINVAL, "flags")
    return {"follow": not flags & _NO_FOLLOW, "empty": bool(flags & _EMPTY_PATH)}


def _times(call: Call, index: int, unit: int) -> bytes | None:
    """Two times from the caller's memory as `struct timespec`, None for now.

    `unit` is how many nanoseconds the second field counts in; 0 where there is no second field.
    """
    if call.is_null(index):
        return None
    if unit == 1:
        return call.memory(index, 32, least=32)
    if unit == 0:
        access, change = struct.unpack("=qq", call.memory(index, 16, least=16))
        return struct.pack("=qqqq", access, 0, change, 0)
    a, b, c, d = struct.unpack("=qqqq", call.memory(index, 32, least=32))
    if not (0 <= b < 1_000_000 and 0 <= d < 1_000_000):
        raise OSError(errno.EINVAL, "times")
    return struct.pack("=qqqq", a, b * unit, c, d * unit)


def _utimensat(call: Call) -> None:
    folder, flags, times = call.number(0), _flags(call.number(3)), _times(call, 2, 1)
    if call.is_null(1):  # futimens(fd)
        if folder == _AT_FDCWD:
            raise OSError(errno.EFAULT, "path")
        _on(call, _change_times, folder, b"", times, empty=True)
    else:
        _on(call, _change_times, folder, call.path(1), times, **flags)


def _connect(call: Call) -> None:
    size = call.number(2)
    if not 2 < size <= _UNIX_NAME_MAX + 2:
        raise OSError(errno.EINVAL, "address")
    address = call.memory(1, size, least=size)
    name = address[2:].partition(b"\0")[0]
    if int.from_bytes(address[:2], "little") != 1 or not name:  # not a unix socket, or one without a path
        raise OSError(errno.EACCES, "address")
    try:
        fd = call.open(_AT_FDCWD, name)
    except PermissionError:
        raise OSError(errno.EACCES, "outside") from None
    try:
        own = socket.socket(fileno=call.descriptor(0))
        try:
            if own.family != 1:
                raise OSError(errno.EACCES, "family")
            own.connect(f"/proc/self/fd/{fd}")
        finally:
            own.close()
    finally:
        os.close(fd)


def _open_peer(call: Call) -> int:
    """The other end of the terminal in the first argument, which the caller must have opened itself."""
    flags = call.number(2)
    terminal = call.descriptor(0)
    try:
        peer = fcntl.ioctl(terminal, _OPEN_PEER, flags | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            return call.give(peer, flags & os.O_CLOEXEC)
        finally:
            os.close(peer)
    finally:
        os.close(terminal)


_HANDLERS = {
    "chmod": lambda c: _on(c, _change_mode, _AT_FDCWD, c.path(0), c.number(1)),
    "fchmod": lambda c: _on(c, _change_mode, c.number(0), b"", c.number(1), empty=True),
    "fchmodat": lambda c: _on(c, _change_mode, c.number(0), c.path(1), c.number(2)),
    "fchmodat2": lambda c: _on(c, _change_mode, c.number(0), c.path(1), c.number(2), **_flags(c.number(3))),
    "chown": lambda c: _on(c, _change_owner, _AT_FDCWD, c.path(0), c.number(1), c.number(2)),
    "lchown": lambda c: _on(c, _change_owner, _AT_FDCWD, c.path(0), c.number(1), c.number(2), follow=False),
    "fchown": lambda c: _on(c, _change_owner, c.number(0), b"", c.number(1), c.number(2), empty=True),
    "fchownat": lambda c: _on(
        c, _change_owner, c.number(0), c.path(1), c.number(2), c.number(3), **_flags(c.number(4))
    ),
    "utime": lambda c: _on(c, _change_times, _AT_FDCWD, c.path(0), _times(c, 1, 0)),
    "utimes": lambda c: _on(c, _change_times, _AT_FDCWD, c.path(0), _times(c, 1, 1000)),
    "futimesat": lambda c: _on(c, _change_times, c.number(0), c.path(1), _times(c, 2, 1000)),
    "utimensat": _utimensat,
    "connect": _connect,
    "ioctl": _open_peer,
}
