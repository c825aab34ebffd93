"""The kernel's calls that Python has no names for: Landlock, seccomp, capabilities, prctl.

Shapes and numbers are those of linux/landlock.h, linux/seccomp.h, linux/capability.h and linux/prctl.h. Every
function raises OSError when the kernel refuses.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
_libc.prctl.argtypes = (ctypes.c_int, *(ctypes.c_ulong,) * 4)

_PDEATHSIG, _DUMPABLE, _CAPBSET_DROP, _NO_NEW_PRIVS, _CAP_AMBIENT = 1, 4, 24, 38, 47
_CAPABILITY_VERSION = 0x20080522
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_SECCOMP = {"x86_64": 317, "aarch64": 277, "riscv64": 277}
_NEW_LISTENER = 8
_PIDFD_GETFD = 438

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _REFER, _TRUNCATE, _IOCTL_DEV = (
    *(1 << 0, 1 << 1, 1 << 2, 1 << 3),
    *(1 << 13, 1 << 14, 1 << 15),
)
_MAKE_DEVICES = 1 << 6 | 1 << 11
_OF_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
# version of Landlock: all rights over files that it knows
_KNOWN = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}
_ALL = (1 << 16) - 1  # from version 5
_RIGHTS = {
    "list": _READ_DIR,
    "read": _READ_DIR | _READ_FILE | _EXECUTE,
    "device": _READ_FILE | _WRITE_FILE | _TRUNCATE | _IOCTL_DEV,
    "write": _ALL & ~_MAKE_DEVICES & ~_IOCTL_DEV,
}
_TCP = 0b11  # bind, connect
_SCOPES = 0b11  # abstract unix sockets, signals


def _checked(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def _prctl(option: int, a: int = 0, b: int = 0) -> int:
    return _checked(_libc.prctl(option, a, b, 0, 0))


def _syscall(number: int, *arguments: object) -> int:
    """System call `number`; integers are passed 64 bits wide, bytes by address."""
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return _checked(_libc.syscall(ctypes.c_long(number), *wide))


def landlock_version() -> int:
    """Landlock's version, 0 where the kernel has none or it is switched off."""
    try:
        return _syscall(_CREATE_RULESET, None, 0, 1)
    except OSError:
        return 0


def die_with_parent(signal: int) -> None:
    """Has the kernel send `signal` to this process when the thread that started it ends."""
    _prctl(_PDEATHSIG, signal)


def no_core() -> None:
    """No memory dump of this process."""
    _prctl(_DUMPABLE, 0)


def no_new_privileges() -> None:
    """From here on no program gains privileges by being started (setuid)."""
    _prctl(_NO_NEW_PRIVS, 1)


def drop_capabilities() -> None:
    """Gives up every capability, for good: then user 0 is an ordinary owner of its files."""
    for number in range(64):
        try:
            _prctl(_CAPBSET_DROP, number)
        except OSError as error:
            if error.errno == errno.EINVAL:  # the kernel knows no more
                break
            if error.errno != errno.EPERM:  # an ordinary user has none to give up
                raise
    try:
        _prctl(_CAP_AMBIENT, 4)  # clear all
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
    header = struct.pack("=Ii", _CAPABILITY_VERSION, 0)
    _checked(_libc.capset(header, bytes(24)))


def landlock(version: int, rules: list[tuple[str, str]], *, network: bool) -> None:
    """Restricts this process and all it starts to `rules`, pairs of a path and a name in `_RIGHTS`.

    Paths that are gone by now are passed over: nothing is allowed there then. Links are not followed.
    """
    known = _KNOWN.get(version, _ALL)
    attributes = struct.pack("=QQQ", known, 0 if network else _TCP, _SCOPES)
    size = 8 if version < 4 else 16 if version < 6 else 24
    ruleset = _syscall(_CREATE_RULESET, attributes[:size], size, 0)
    for path, kind in rules:
        try:
            fd = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue
        mode = os.fstat(fd).st_mode
        rights = _RIGHTS[kind] & known
        if not stat.S_ISDIR(mode):
            rights &= _OF_A_FILE
        if rights and not stat.S_ISLNK(mode):
            _syscall(_ADD_RULE, ruleset, 1, struct.pack("=Qi", rights, fd), 0)
        os.close(fd)
    _syscall(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def install_filter(program: bytes) -> int:
    """Puts this process and all it starts under the BPF `program`; returns the descriptor of its watcher."""
    code = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("@HP", len(program) // 8, ctypes.addressof(code))
    return _syscall(_SECCOMP[os.uname().machine], 1, _NEW_LISTENER, header)


def descriptor_of(pidfd: int, number: int) -> int:
    """A descriptor of ours for what descriptor `number` of another process stands for."""
    return _syscall(_PIDFD_GETFD, pidfd, number, 0)


def set_times(path: str, times: bytes | None) -> None:
    """utimensat(2) with the caller's own two `struct timespec` (None: now)."""
    _checked(_libc.utimensat(-100, os.fsencode(path), times, 0))
