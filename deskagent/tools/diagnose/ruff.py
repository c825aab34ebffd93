"""Problems in Python files by ruff: by the project's rules where it is trusted, else those of code that can't run."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

from deskagent.terminal import spawn
from deskagent.terminal.types import Command, Limits
from deskagent.tools.base import Context
from deskagent.tools.diagnose.found import Problem
from deskagent.tools.diagnose.programs import search_path

ENDINGS = (".py", ".pyi")
_BROKEN = "E9,F402,F404,F50,F63,F7,F811,F82"


def check(path: str, text: bytes, context: Context, *, trusted: bool, seconds: float) -> list[Problem] | None:
    """text: the file's contents, which needn't be on the disk. None where ruff isn't there or can't tell."""
    where = search_path(context.project, context.env, trusted=trusted)
    if (program := shutil.which("ruff", path=where)) is None:
        return None
    words = [program, "check", "--quiet", "--no-cache", "--output-format", "json", "--stdin-filename", path]
    words += [] if trusted else ["--isolated", "--select", _BROKEN]
    printed: list[bytes] = []
    seen = (*context.policy.readable, context.project)
    spawn.run(
        Command((*words, "-"), context.project, {**context.env, "PATH": where}),
        sandbox=context.sandbox,
        policy=replace(context.policy, writable=(), readable=seen),
        limits=Limits(seconds=seconds),
        stdin=text,
        on_output=printed.append,
        cancel=context.cancel,
    )
    try:
        rows = json.loads(b"".join(printed))
        return [Problem(row["location"]["row"], row["message"], row["code"] or "", "ruff") for row in rows]
    except (ValueError, KeyError, TypeError):
        return None
