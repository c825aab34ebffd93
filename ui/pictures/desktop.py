"""Programs of the person's desktop: the clipboard's, those that capture the screen."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from deskagent.errors import UsageError
from deskagent.terminal import spawn
from deskagent.terminal.environment import base_env, outside
from deskagent.terminal.sandbox import Unconfined
from deskagent.terminal.types import Command, End, Limits, Policy
from deskagent.tools.picture import FILE

_DESKTOP = ("DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "SWAYSOCK")


class Failed(UsageError):
    """The program ran and said no. message: its own words."""


def has(program: str, project: Path) -> bool:
    return shutil.which(program, path=_path(project)) is not None


def ask(*argv: str, project: Path, seconds: float = 15.0) -> bytes:
    """What a program prints. Nothing of the project is run, whatever stands on PATH.

    Errors: UsageError where it isn't installed or takes too long; Failed.
    """
    env = base_env({name: os.environ[name] for name in _DESKTOP if name in os.environ})
    env["PATH"] = _path(project)
    printed: list[bytes] = []
    result = spawn.run(
        Command(argv, Path("/"), env),
        sandbox=Unconfined(),
        policy=Policy(),
        limits=Limits(seconds=seconds, output=FILE),
        on_output=printed.append,
    )
    if result.end is End.NOT_FOUND:
        raise UsageError(
            f"{argv[0]} isn't installed.", hint=f"Install it: it is {argv[0]} that is asked here."
        )
    if result.end is not End.EXITED:
        raise UsageError(f"{argv[0]} was ended ({result.end} {result.detail}).")
    if result.code:
        said = result.text.strip().splitlines()
        raise Failed(f"{argv[0]}: {said[-1][:200] if said else f'exit code {result.code}'}")
    return b"".join(printed)


def _path(project: Path) -> str:
    return outside(project, base_env()["PATH"])
