"""The result of a process, from how it ended and what it printed."""

from __future__ import annotations

from deskagent.terminal.child import Ending
from deskagent.terminal.output import Output
from deskagent.terminal.types import End, Result, Rung

# What a wrapper says, and its exit code, when the command never ran. A command that prints the same and fails
# with the same code is told wrongly, but as failed in any case.
_NEVER_RAN = {
    Rung.BWRAP: ((1, b"bwrap: execvp ", End.NOT_FOUND, 127), (1, b"bwrap: ", End.SANDBOX, 126)),
    Rung.LANDLOCK: ((126, b"deskagent: the sandbox could not ", End.SANDBOX, 126),),
}


def result_of(ending: Ending, output: Output, rung: Rung) -> Result:
    """The result of a process that ended as told and printed `output`."""
    end, code, detail = ending.end, ending.code, ending.detail
    for said, words, means, told in _NEVER_RAN.get(rung, ()):
        if end is End.EXITED and code == said and output.head.startswith(words):
            end, code, detail = means, told, output.head.decode("utf-8", "replace").strip()
    return Result(
        end=end,
        code=code,
        seconds=ending.seconds,
        head=output.head,
        tail=output.tail,
        total=output.total,
        output_path=output.path,
        detail="; ".join(filter(None, (detail, output.problem))),
        rung=rung,
    )
