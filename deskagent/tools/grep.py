"""Searches the project's files for a regular expression."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

from pathspec import GitIgnoreSpec
from pydantic import Field

from deskagent.messages import Result
from deskagent.repo.walk import names
from deskagent.terminal import spawn
from deskagent.terminal.types import Command, End, Limits
from deskagent.tools import searching
from deskagent.tools.base import Arguments, Context, Tool, ToolError, Wish
from deskagent.tools.place import place

MOST = 150
_SECONDS = 30.0


class GrepArguments(Arguments):
    pattern: str = Field(description="a regular expression of Python's re, searched in each line")
    path: str = Field(".", description="a file or folder to look in")
    files: str = Field("", description="only files whose path fits, as in .gitignore: `*.py`")
    ignore_case: bool = False


class Grep(Tool[GrepArguments]):
    name = "grep"
    prompt = "Searches the text of the project's files, line by line. What git ignores is left out."
    arguments = GrepArguments
    looks = True

    def wish(self, arguments: GrepArguments, context: Context) -> Wish:
        return place(context.project, arguments.path).read

    def run(self, arguments: GrepArguments, context: Context) -> Result:
        try:
            re.compile(arguments.pattern)
        except (re.error, RecursionError, OverflowError) as error:
            raise ToolError(f"{arguments.pattern!r} is no regular expression: {error}.") from error
        found = place(context.project, arguments.path)
        if not found.path.exists():
            raise ToolError(f"There is no {arguments.path}.")
        folder, listed = (
            (found.path, names(found.path)[0]) if found.path.is_dir() else (found.path.parent, None)
        )
        if listed is None:
            listed = [found.path.name]
        elif arguments.files:
            spec = GitIgnoreSpec.from_lines([arguments.files])
            listed = [name for name in listed if spec.match_file(name)]
        lines, more = _searched(arguments, folder, listed, context)
        top = os.path.relpath(folder, context.project) if found.inside else str(folder)
        prefix = "" if top == "." else f"{top}/"
        shown = [f"{prefix}{name}:{number}: {text}" for name, number, text in lines]
        if more:
            shown.append(f"({more} more lines; narrow the search)")
        return Result.of("\n".join(shown) or "Nothing was found.")


def _searched(
    arguments: GrepArguments, folder: Path, listed: list[str], context: Context
) -> tuple[list[tuple[str, int, str]], int]:
    """(path, line, text) of what was found, and how many more there are. Errors: ToolError."""
    asked = {"pattern": arguments.pattern, "ignore_case": arguments.ignore_case, "most": MOST}
    script = Path(searching.__file__).read_text("utf-8")
    printed: list[bytes] = []
    result = spawn.run(
        Command((sys.executable, "-I", "-S", "-c", script), folder, dict(context.env)),
        sandbox=context.sandbox,
        policy=context.policy,
        limits=Limits(seconds=_SECONDS),
        stdin=json.dumps(asked).encode() + b"\n" + b"\0".join(map(os.fsencode, listed)),
        on_output=printed.append,
        cancel=context.cancel,
    )
    if result.end is End.TIMEOUT:
        raise ToolError(
            f"The search took over {_SECONDS:g} s and was ended. Try a simpler expression, or fewer files."
        )
    *found, last = b"".join(printed).rstrip(b"\n").split(b"\n")
    if result.end is not End.EXITED or result.code or not last.startswith(b"\0"):
        raise ToolError(f"The search ended early: {result.end} {result.detail} {result.text[-300:]}")
    rows = [row.split(b"\0", 2) for row in found]
    return [(os.fsdecode(n), int(at), text.decode("utf-8", "replace")) for n, at, text in rows], int(last[1:])
