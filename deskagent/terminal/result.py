"""The result of a process, from how it ended and what it printed."""

from __future__ import annotations

from deskagent.terminal.child import Ending
from deskagent.terminal.output import Output
from deskagent.terminal.types import End, Result, Rung


def result_of(ending: Ending, output: Output, rung: Rung) -> Result:
    """The result of a process that ended as told and printed `output`."""
    end, code, detail = ending.end, ending.code, ending.detail
    if rung is Rung.BWRAP and end is End.EXITED and code == 1 and output.head.startswith(b"bwrap: "):
        # bwrap's own words for a set-up that failed. A command that prints the same fails as well.
        end, detail = End.SANDBOX, _last_words(output)
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


def _last_words(output: Output) -> str:
    """The last line printed, for a message."""
    return output.last(400).decode("utf-8", "replace").strip().rsplit("\n", 1)[-1]
