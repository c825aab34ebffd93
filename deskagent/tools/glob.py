"""Lists files by a pattern of their names, the latest changed first."""

from __future__ import annotations

import os
from contextlib import suppress

from pathspec import GitIgnoreSpec
from pydantic import Field

from deskagent.messages import Result
from deskagent.repo.walk import names
from deskagent.tools.base import Arguments, Context, Tool, ToolError, Wish
from deskagent.tools.place import place

MOST = 200


class GlobArguments(Arguments):
    pattern: str = Field(description="as in .gitignore: `*.py` anywhere, `/src/**/test_*.py` from the top")
    path: str = Field(".", description="a folder to look in")


class Glob(Tool[GlobArguments]):
    name = "glob"
    prompt = "Lists the project's files whose path fits a pattern. What git ignores is left out."
    arguments = GlobArguments
    looks = True

    def wish(self, arguments: GlobArguments, context: Context) -> Wish:
        return place(context.project, arguments.path).read

    def run(self, arguments: GlobArguments, context: Context) -> Result:
        found = place(context.project, arguments.path)
        if not found.path.is_dir():
            raise ToolError(f"{arguments.path} is no folder.")
        try:
            spec = GitIgnoreSpec.from_lines([arguments.pattern])
        except ValueError as error:
            raise ToolError(f"{arguments.pattern!r} is no pattern: {error}.") from error
        listed, whole = names(found.path)
        fitting = [name for name in listed if spec.match_file(name)]
        latest = sorted(fitting, key=lambda name: (-_changed(found.path / name), name))
        prefix = "" if found.name == "." else f"{found.name}/"
        lines = [f"{prefix}{name}" for name in latest[:MOST]]
        if len(latest) > MOST:
            lines.append(f"({len(latest) - MOST} more; narrow the pattern)")
        if not whole:
            lines.append("(the folder has more files than were looked at)")
        return Result.of("\n".join(lines) or "No file fits.")


def _changed(path: os.PathLike[str]) -> int:
    with suppress(OSError):
        return os.stat(path, follow_symlinks=False).st_mtime_ns  # noqa: PTH116
    return 0
