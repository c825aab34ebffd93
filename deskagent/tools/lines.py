"""The wish to run a shell line, whichever tool runs it."""

from __future__ import annotations

from deskagent.tools import shell
from deskagent.tools.base import Context, Effect, ToolError, Wish


def wish(line: str, kind: str, context: Context, note: str = "") -> Wish:
    """kind: of running, since what one way of it was approved for isn't for another. note: shown below the line.

    Errors: ToolError for a line that is none, or of more commands than anybody reads.
    """
    if not line.strip() or "\0" in line:
        raise ToolError("The command is empty, or holds a NUL.")
    found = shell.read(line)
    if len(found.commands) > shell.MOST:
        raise ToolError(f"The line has more than {shell.MOST} commands. Split it, or write a script.")
    return Wish(
        Effect.RUN,
        f"{line}\n{note}" if note else line,
        f"{kind}:{context.project}:{line}",
        commands=found.commands if found.clear else (),
    )
