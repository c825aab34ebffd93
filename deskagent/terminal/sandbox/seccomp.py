"""The filter of system calls: what no sandboxed process may ask of the kernel, compiled to BPF.

A table of rules and a small assembler in place of a library: it needs nothing installed, costs no import and
starts no process (ctypes' search for a library runs whatever `gcc` is first on PATH).

All arguments tested are 32 bits wide to the kernel, so only their low halves are compared: a filter that
compares 64 bits is passed by setting a bit that the kernel then ignores (CVE-2019-10063).
"""

from __future__ import annotations

import errno
import struct
from dataclasses import dataclass

from deskagent.terminal.sandbox.syscalls import Machine
from deskagent.terminal.types import Rung

_ALLOW = 0x7FFF0000
_KILL_PROCESS = 0x80000000
NOTIFY = 0x7FC00000  # the launcher's watcher decides
_ERRNO = 0x00050000

_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_JUMP_EQUAL, _JUMP_ABOVE = 0x15, 0x25
_NR, _ARCH, _ARGS = 0, 4, 16  # offsets in struct seccomp_data


@dataclass(frozen=True)
class Test:
    """`argument[arg] & mask == value`, or `!=` where `equal` is False."""

    arg: int
    value: int
    mask: int = 0xFFFFFFFF
    equal: bool = True


@dataclass(frozen=True)
class Rule:
    """`action` for the system call `name` if all of `tests` hold."""

    name: str
    action: int
    tests: tuple[Test, ...] = ()


def _refuse(code: int, *names: str) -> list[Rule]:
    return [Rule(name, _ERRNO | code) for name in names]


def _bits(arg: int, *bits: int) -> list[tuple[Test, ...]]:
    return [(Test(arg, bit, mask=bit),) for bit in bits]


_EPERM = _ERRNO | errno.EPERM
_EACCES = _ERRNO | errno.EACCES

# New namespaces are the way to capabilities and from there to the kernel's less travelled code.
_NAMESPACES = (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000)
_NEW_TIME_NAMESPACE = 0x80  # for unshare alone: in clone these bits are a signal
_TERMINAL_INPUT = (0x5412, 0x541C, 0x541D)  # TIOCSTI, TIOCLINUX, TIOCCONS: typing into somebody's terminal
_FILE_FLAGS = (0x40086602, 0x40046602, 0x401C5820)  # FS_IOC_SETFLAGS, its 32-bit form, FS_IOC_FSSETXATTR
_OPEN_PEER = 0x5441  # TIOCGPTPEER: the other end of a terminal of one's own
_SETUID, _SETGID = 0o4000, 0o2000
_CREATES = (0o100, 0o20000000)  # O_CREAT, O_TMPFILE: only then is the mode read
_O_TRUNC, _ACCESS_MODE = 0o1000, 0o3
_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_DGRAM, _RAW, _TYPE_MASK = 2, 3, 0xF


def _with_mode(name: str, flags: int | None, mode: int) -> list[Rule]:
    """Rules against making a file that is setuid or setgid from its first moment."""
    creating: list[tuple[Test, ...]] = [()]
    if flags is not None:
        creating = [(Test(flags, bit, mask=bit),) for bit in _CREATES]
    return [
        Rule(name, _EPERM, (*made, Test(mode, bit, mask=bit)))
        for made in creating
        for bit in (_SETUID, _SETGID)
    ]


_ALWAYS: list[Rule] = [
    *_refuse(errno.EPERM, "mount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "fsopen"),
    *_refuse(errno.EPERM, "fsconfig", "fsmount", "fspick", "mount_setattr", "setns"),
    *(Rule("unshare", _EPERM, test) for test in _bits(0, *_NAMESPACES, _NEW_TIME_NAMESPACE)),
    *(Rule("clone", _EPERM, test) for test in _bits(0, *_NAMESPACES)),
    # Their flags lie in memory, out of a filter's sight; every caller falls back to the older call.
    *_refuse(errno.ENOSYS, "clone3", "openat2", "io_uring_setup", "io_uring_enter", "io_uring_register"),
    *_refuse(errno.EPERM, "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp"),
    *_refuse(errno.EPERM, "process_madvise", "keyctl", "add_key", "request_key", "bpf", "perf_event_open"),
    *_refuse(
        errno.EPERM, "userfaultfd", "open_by_handle_at", "fanotify_init", "lookup_dcookie", "modify_ldt"
    ),
    *_refuse(errno.EPERM, "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module"),
    *_refuse(errno.EPERM, "reboot", "swapon", "swapoff", "acct", "quotactl", "quotactl_fd", "settimeofday"),
    *_refuse(errno.EPERM, "clock_settime", "clock_adjtime", "iopl", "ioperm", "nfsservctl", "syslog"),
    *_refuse(errno.EPERM, "vhangup", "uselib", "sethostname", "setdomainname"),
    Rule("seccomp", _EPERM, (Test(1, 8, mask=8),)),  # a watcher of its own
    *(Rule("ioctl", _EPERM, (Test(1, request),)) for request in _TERMINAL_INPUT),
    *_with_mode("open", 1, 2),
    *_with_mode("openat", 2, 3),
    *_with_mode("creat", None, 1),
    *_with_mode("mknod", None, 1),
    *_with_mode("mknodat", None, 2),
    *(
        Rule(name, _EPERM, (Test(mode, _SETUID, mask=_SETUID),))
        for name, mode in (("chmod", 1), ("fchmod", 1), ("fchmodat", 2), ("fchmodat2", 2))
    ),
]


def _sockets(*families: int) -> list[Rule]:
    """Only these families of sockets: the others reach past a network namespace or into odd kernel code."""
    return [
        Rule("socket", _EACCES, tuple(Test(0, family, equal=False) for family in families)),
        Rule("socketpair", _EACCES, (Test(0, _UNIX, equal=False),)),
        Rule("socket", _EACCES, (Test(0, _NETLINK), Test(2, 0, equal=False))),  # but NETLINK_ROUTE
    ]


# A datagram socket names its receiver in each message, where no filter sees it.
_NO_UNIX_DATAGRAMS: list[Rule] = [
    Rule(call, _EACCES, (Test(0, _UNIX), Test(1, kind, mask=_TYPE_MASK)))
    for call in ("socket", "socketpair")
    for kind in (_DGRAM, _RAW)
]

# Landlock says nothing about who may change a file's mode, owner, times and flags, or connect to a socket; and
# it takes the other end of a new terminal for a file in /dev/pts, where other programs' terminals are.
WATCHED: tuple[str, ...] = (
    *("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat"),
    *("utime", "utimes", "futimesat", "utimensat", "connect", "ioctl"),
)
_BESIDE_LANDLOCK: list[Rule] = [
    *(Rule(name, NOTIFY) for name in WATCHED if name not in ("connect", "ioctl")),
    *_refuse(errno.EOPNOTSUPP, "setxattr", "lsetxattr", "fsetxattr"),
    *_refuse(errno.EOPNOTSUPP, "removexattr", "lremovexattr", "fremovexattr"),
    *(Rule("ioctl", _EPERM, (Test(1, request),)) for request in _FILE_FLAGS),
    Rule("ioctl", NOTIFY, (Test(1, _OPEN_PEER),)),
    # Without an IPC namespace these belong to all programs of the user.
    *_refuse(errno.ENOSYS, "shmget", "shmat", "shmctl", "semget", "semop", "semtimedop", "semctl"),
    *_refuse(errno.ENOSYS, "msgget", "msgsnd", "msgrcv", "msgctl", "mq_open", "mq_unlink"),
    Rule("prlimit64", _EPERM, (Test(0, 0, equal=False),)),  # another process's limits
]
_BEFORE_LANDLOCK_3: list[Rule] = [
    *_refuse(errno.EPERM, "truncate"),
    *(
        Rule(name, _EPERM, (Test(flags, 0, mask=_ACCESS_MODE), Test(flags, _O_TRUNC, mask=_O_TRUNC)))
        for name, flags in (("open", 1), ("openat", 2))
    ),
]


def rules(rung: Rung, *, network: bool, abi: int = 0) -> list[Rule]:
    """The rules for a rung; `abi` is Landlock's version on the landlock rung."""
    if rung is Rung.BWRAP:
        return [*_ALWAYS, *_sockets(_UNIX, _INET, _INET6, _NETLINK)]
    found = [*_ALWAYS, *_BESIDE_LANDLOCK]
    if abi < 3:
        found += _BEFORE_LANDLOCK_3
    if network:  # watching every connection would slow the network down: no unix sockets then
        return [*found, *_sockets(_INET, _INET6, _NETLINK)]
    return [*found, *_sockets(_UNIX), *_NO_UNIX_DATAGRAMS, Rule("connect", NOTIFY)]


def compile_filter(found: list[Rule], machine: Machine) -> bytes:
    """The program for seccomp(2): an array of struct sock_filter. Earlier rules win."""
    program = [
        _op(_LOAD, _ARCH),
        _op(_JUMP_EQUAL, machine.audit, 1, 0),
        _op(_RETURN, _KILL_PROCESS),  # 32-bit programs: other numbers, other holes
        _op(_LOAD, _NR),
        _op(_JUMP_ABOVE, machine.newest, 0, 1),  # x32 numbers lie above too
        _op(_RETURN, _ERRNO | errno.ENOSYS),
    ]
    by_number: dict[int, list[Rule]] = {}
    for rule in found:
        number = machine.number(rule.name)
        if number is not None:
            by_number.setdefault(number, []).append(rule)
    for number, group in by_number.items():
        block = [op for rule in group for op in _condition(rule)] + [_op(_RETURN, _ALLOW)]
        program += [_op(_JUMP_EQUAL, number, 0, len(block)), *block]
    program.append(_op(_RETURN, _ALLOW))
    return b"".join(program)


def _condition(rule: Rule) -> list[bytes]:
    size = sum(3 if test.mask != 0xFFFFFFFF else 2 for test in rule.tests)
    ops: list[bytes] = []
    for test in rule.tests:
        ops.append(_op(_LOAD, _ARGS + 8 * test.arg))
        if test.mask != 0xFFFFFFFF:
            ops.append(_op(_AND, test.mask))
        past = size - len(ops)  # from the instruction after this jump to the one after the return
        ops.append(_op(_JUMP_EQUAL, test.value, *((0, past) if test.equal else (past, 0))))
    return [*ops, _op(_RETURN, rule.action)]


def _op(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("<HBBI", code, yes, no, value)
