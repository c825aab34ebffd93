"""System call numbers: x86_64 has a table of its own, aarch64 and riscv64 share the generic one."""

from __future__ import annotations

import platform
from dataclasses import dataclass

_ABSENT = -1

# name: (x86_64, generic); generic lacks the calls that an "…at" form replaced
_NUMBERS: dict[str, tuple[int, int]] = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "bpf": (321, 280),
    "chmod": (90, _ABSENT),
    "chown": (92, _ABSENT),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "clone": (56, 220),
    "clone3": (435, 435),
    "connect": (42, 203),
    "creat": (85, _ABSENT),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "finit_module": (313, 273),
    "fremovexattr": (199, 16),
    "fsconfig": (431, 431),
    "fsetxattr": (190, 7),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "futimesat": (261, _ABSENT),
    "init_module": (175, 105),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioctl": (16, 29),
    "ioperm": (173, _ABSENT),
    "iopl": (172, _ABSENT),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "lchown": (94, _ABSENT),
    "lookup_dcookie": (212, 18),
    "lremovexattr": (198, 15),
    "lsetxattr": (189, 6),
    "mknod": (133, _ABSENT),
    "mknodat": (259, 33),
    "modify_ldt": (154, _ABSENT),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "msgctl": (71, 187),
    "msgget": (68, 186),
    "msgrcv": (70, 188),
    "msgsnd": (69, 189),
    "nfsservctl": (180, 42),
    "open": (2, _ABSENT),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "openat": (257, 56),
    "openat2": (437, 437),
    "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438),
    "pidfd_open": (434, 434),
    "pivot_root": (155, 41),
    "prlimit64": (302, 261),
    "process_madvise": (440, 440),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "removexattr": (197, 14),
    "request_key": (249, 218),
    "seccomp": (317, 277),
    "semctl": (66, 191),
    "semget": (64, 190),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "setdomainname": (171, 162),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "settimeofday": (164, 170),
    "setxattr": (188, 5),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "shmget": (29, 194),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "truncate": (76, 45),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "uselib": (134, _ABSENT),
    "userfaultfd": (323, 282),
    "utime": (132, _ABSENT),
    "utimensat": (280, 88),
    "utimes": (235, _ABSENT),
    "vhangup": (153, 58),
}


@dataclass(frozen=True)
class Machine:
    """A kind of processor as seccomp sees it."""

    audit: int  # AUDIT_ARCH_… of linux/audit.h
    column: int  # in the table of numbers
    newest: int = 462  # the last call that the rules know (mseal, Linux 6.10); later ones don't exist inside

    def number(self, name: str) -> int | None:
        """The number of system call `name`, None where this kind of processor has none."""
        value = _NUMBERS[name][self.column]
        return None if value == _ABSENT else value


_MACHINES = {
    "x86_64": Machine(0xC000003E, 0),
    "aarch64": Machine(0xC00000B7, 1),
    "riscv64": Machine(0xC00000F3, 1),
}


def this_machine() -> Machine | None:
    """The processor this runs on, None if the filter doesn't know it."""
    return _MACHINES.get(platform.machine())
