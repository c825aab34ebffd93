"""The nouns of running a process: what to run, what confines it, what it may use, how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path


class Rung(StrEnum):
    """How strongly this machine can confine a process, the strongest first."""

    BWRAP = "bwrap"
    LANDLOCK = "landlock"
    NONE = "none"


@dataclass(frozen=True)
class Command:
    """A process to start: `argv[0]` is looked up in `env["PATH"]`; a shell line is ("sh", "-c", line)."""

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    pty: bool = False
    size: tuple[int, int] = (24, 80)  # rows, columns of the PTY


@dataclass(frozen=True)
class Policy:
    """What a sandboxed process may touch. Everything not named is readable only; secrets are not readable.

    `writable`   folders it may write to (workspace scratch copies; never chosen by a model);
    `mounts`     real folder → path it is seen at (bwrap rung only: the scratch copy over the project's path);
    `read_only`  paths inside `writable` or `mounts` targets that stay read-only (.git/hooks, .git/config, …),
                 protected also while they don't exist;
    `hidden`     extra paths made unreadable, beside the built-in secrets (~/.ssh, ~/.aws, keyrings, …);
    `readable`   paths that must be seen though they lie in /tmp, /run or a hidden folder (an interpreter that
                 argv, PATH or VIRTUAL_ENV names is seen anyway);
    `network`    False: no network but an own loopback (bwrap), none at all (landlock).
    """

    writable: tuple[Path, ...] = ()
    mounts: Mapping[Path, Path] = field(default_factory=dict)
    read_only: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()
    network: bool = False


@dataclass(frozen=True)
class Limits:
    """What a process tree may use. None means no limit."""

    seconds: float | None = 600.0
    memory: int | None = 8 << 30  # bytes resident, the whole tree
    processes: int | None = 512
    output: int = 64 << 20  # bytes kept in the output file; the rest is counted and dropped
    file_size: int | None = 4 << 30  # largest file it may write


class End(StrEnum):
    """Why a process is no longer running."""

    EXITED = "exited"
    SIGNALED = "signaled"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    PROCESSES = "processes"
    FILE_SIZE = "file_size"  # it died of writing a larger file than allowed
    CANCELLED = "cancelled"
    WAITING = "waiting"  # it waited for input that nobody will give
    NOT_FOUND = "not_found"  # the command doesn't exist or can't be executed
    SANDBOX = "sandbox"  # the sandbox could not be set up; nothing ran


@dataclass(frozen=True)
class Result:
    """How a run ended. `code` is the exit status (128 + n for signal n). `head` and `tail` are bytes of the
    combined output (up to 64 KiB each, no overlap); `output_path` holds the whole up to the limit."""

    end: End
    code: int
    seconds: float
    head: bytes = b""
    tail: bytes = b""
    total: int = 0  # bytes printed, also those dropped
    output_path: Path | None = None
    detail: str = ""  # for people: what was killed and why, what it waited for
    rung: Rung = Rung.NONE

    @property
    def text(self) -> str:
        """Head and tail as text, undecodable bytes replaced, the gap marked."""
        gap = self.total - len(self.head) - len(self.tail)
        middle = f"\n… {gap} bytes left out …\n" if gap > 0 else ""
        return self.head.decode("utf-8", "replace") + middle + self.tail.decode("utf-8", "replace")
