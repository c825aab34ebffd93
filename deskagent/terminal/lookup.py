"""Whether a command can start at all, told before anything does, in words for people."""

from __future__ import annotations

import errno
import os
import shlex
import stat
from collections.abc import Mapping
from pathlib import Path

from deskagent.errors import UsageError
from deskagent.terminal.types import Command, End


class StartError(UsageError):
    """The command can't start. `code` is what a shell would exit with: 127 not found, 126 not executable."""

    end = End.NOT_FOUND

    def __init__(self, message: str, *, code: int = 127, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.code = code


def _real(path: Path, mounts: Mapping[Path, Path]) -> Path:
    """Where `path`, as the child sees it, lies on the disk: the innermost mount that holds it tells."""
    holding = [(source, target) for source, target in mounts.items() if path.is_relative_to(target)]
    source, target = max(holding, key=lambda pair: len(pair[1].parts), default=(path, path))
    return source / path.relative_to(target)


def _check_text(command: Command) -> None:
    if not command.argv or not command.argv[0]:
        raise StartError("The command is empty.")
    for what, text in (
        *(("argument", argument) for argument in command.argv),
        *(("environment variable", f"{name}{value}") for name, value in command.env.items()),
        ("folder", str(command.cwd)),
    ):
        try:
            encoded = os.fsencode(text)
        except UnicodeEncodeError:
            raise StartError(f"The {what} {text!r} can't be encoded for the system.", code=126) from None
        if b"\0" in encoded:
            raise StartError(f"The {what} {text!r} holds a NUL byte, which no system call takes.", code=126)
    for name in command.env:
        if not name or "=" in name:
            raise StartError(f"{name!r} can't be the name of an environment variable.", code=126)


def _mode(path: Path) -> int:
    """The mode of what `path` leads to; 0 where there is nothing, or it can't be looked at."""
    try:
        return path.stat().st_mode
    except (OSError, ValueError):
        return 0


def _check_cwd(cwd: Path, mounts: Mapping[Path, Path]) -> None:
    mode = _mode(_real(cwd, mounts))
    if not stat.S_ISDIR(mode):
        state = "is not a folder" if mode else "does not exist"
        raise StartError(f"The working folder {cwd} {state}.", code=126)


def _is_program(path: Path) -> bool:
    return stat.S_ISREG(_mode(path)) and os.access(path, os.X_OK)


def check(command: Command, mounts: Mapping[Path, Path]) -> Path:
    """Where the program of `command` lies, as the child will see it. Raises StartError.

    `mounts` are those of the policy. A check for people's sake: what it saw may change before the start.
    """
    _check_text(command)
    _check_cwd(command.cwd, mounts)
    program = command.argv[0]
    if "/" in program:
        path = command.cwd / program
        real = _real(path, mounts)
        if _is_program(real):
            return path
        mode = _mode(real)
        if not mode:
            raise StartError(f"{program}: no such file (looked in {command.cwd}).")
        raise StartError(
            f"{program} {'is a folder' if stat.S_ISDIR(mode) else 'is not executable'}.", code=126
        )
    found: Path | None = None
    for folder in command.env.get("PATH", os.defpath).split(os.pathsep):
        path = command.cwd / folder / program
        real = _real(path, mounts)
        if _is_program(real):
            return path
        if stat.S_ISREG(_mode(real)):
            found = path
    if found:
        raise StartError(
            f"{found} is not executable.", code=126, hint=f"Try chmod +x {shlex.quote(str(found))}."
        )
    raise StartError(
        f"{program}: command not found.",
        hint="Is it installed, and its virtual environment active? Names are looked up in PATH alone; "
        "a shell function or alias is none.",
    )


_REASONS = {
    errno.ENOENT: ("the interpreter that its first line names is missing", 127),
    errno.ENOTDIR: ("a part of its path is not a folder", 127),
    errno.EACCES: ("permission denied", 126),
    errno.E2BIG: ("its arguments and environment are too long for the system", 126),
    errno.ETXTBSY: ("its file is open for writing", 126),
    errno.ENOEXEC: ("it is not a program for this machine", 126),
}


def explain(command: Command, number: int, where: str) -> StartError:
    """The error for a start refused by the system with errno `number` at the supervisor's step `where`."""
    if where == "cwd":
        return StartError(
            f"The working folder {command.cwd} can't be entered: {os.strerror(number)}.", code=126
        )
    reason, code = _REASONS.get(number, (os.strerror(number), 126))
    return StartError(f"{command.argv[0]} can't be started: {reason}.", code=code)
