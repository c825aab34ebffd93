"""The seam between a sandbox and `spawn`: a command goes in, the command that confines it comes out."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from deskagent.errors import UsageError
from deskagent.terminal.types import Policy, Rung


class SandboxError(UsageError):
    """A command can't be confined as asked: the rung lacks what the policy needs, or doesn't work here."""


def nothing() -> None:
    """The cleanup of a command that leaves nothing to clean up."""


@dataclass(frozen=True)
class Wrapped:
    """What to start in place of a command, in a session of its own (setsid).

    `cleanup` is called once, when the last process of the command is gone or when it could not be started;
    it never raises. Until then the thread that starts the command must live: the kernel ends the sandbox when
    the thread that started it ends.
    """

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    fds: tuple[int, ...] = ()  # open descriptors the child must inherit; spawn closes them after the start
    cleanup: Callable[[], None] = nothing


class Sandbox(Protocol):
    """One way to confine a process."""

    @property
    def rung(self) -> Rung: ...

    def wrap(self, argv: tuple[str, ...], cwd: Path, env: Mapping[str, str], policy: Policy) -> Wrapped:
        """What to start so that `argv` runs under `policy`. Raises SandboxError where that can't be had."""
        ...


class Unconfined:
    """No sandbox: the command as it is. Who uses it asks before every command."""

    rung = Rung.NONE

    def wrap(self, argv: tuple[str, ...], cwd: Path, env: Mapping[str, str], policy: Policy) -> Wrapped:
        """The command unchanged; `policy` is not enforced, but mounts can't be pretended."""
        if policy.mounts:
            raise SandboxError(
                "Without a sandbox a folder can't be shown at another path.",
                hint="Run the command inside the scratch copy itself.",
            )
        return Wrapped(argv, cwd, env)


def in_memory(name: str, data: bytes) -> int:
    """A descriptor to read `data` from; the caller closes it."""
    fd = os.memfd_create(f"deskagent-{name}")
    with open(fd, "wb", closefd=False) as file:
        file.write(data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
