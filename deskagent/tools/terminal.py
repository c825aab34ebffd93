"""Runs a shell line in the sandbox, in a terminal of its own, to its end."""

from __future__ import annotations

import codecs
import tempfile
from pathlib import Path

from pydantic import Field

from deskagent.messages import Outcome, Result
from deskagent.terminal import spawn
from deskagent.terminal.types import Command, End, Limits
from deskagent.terminal.types import Result as Ran
from deskagent.tools import lines
from deskagent.tools.base import Arguments, Context, Tool, Wish
from deskagent.tools.plain import plain, shortened

_KEPT = 8 << 20
"""Bytes of output that are kept with the session."""
_SIZE = (50, 200)


class TerminalArguments(Arguments):
    command: str = Field(description="a line for bash")
    seconds: float = Field(120, gt=0, le=3600, description="after which it is ended")


class Terminal(Tool[TerminalArguments]):
    name = "terminal"
    prompt = (
        "Runs a shell line in the project's folder, in a sandbox: only the project is writable, there is no network, "
        "nothing outlives the line, and each line starts afresh (no `cd` or variable is kept). It must not wait for "
        "input: give what it would ask for as arguments. Files are read and edited by their own tools."
    )
    arguments = TerminalArguments

    def wish(self, arguments: TerminalArguments, context: Context) -> Wish:
        return lines.wish(arguments.command, "run", context)

    def run(self, arguments: TerminalArguments, context: Context) -> Result:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        with tempfile.TemporaryDirectory(prefix="deskagent-") as folder:
            whole = Path(folder) / "output"
            ran = spawn.run(
                Command(("bash", "-c", arguments.command), context.folder, context.env, pty=True, size=_SIZE),
                sandbox=context.sandbox,
                policy=context.policy,
                limits=Limits(seconds=arguments.seconds, output=_KEPT),
                output_path=whole,
                on_output=lambda data: context.say(decoder.decode(data)),
                cancel=context.cancel,
            )
            printed = whole.read_bytes()
        text = plain(printed.decode("utf-8", "replace")).strip("\n")
        shown = shortened(text)
        if shown != text:
            shown += f"\n(all of it is kept with the session as {context.keep(printed)[:12]})"
        return Result.of(
            "\n".join(filter(None, [shown, _ending(ran)])), _OUTCOMES.get(ran.end, Outcome.FAILED)
        )


_OUTCOMES = {End.EXITED: Outcome.DONE, End.CANCELLED: Outcome.CANCELLED}


def _ending(ran: Ran) -> str:
    match ran.end:
        case End.EXITED:
            return f"(exit {ran.code}, {ran.seconds:.1f} s)" if ran.code else ""
        case End.TIMEOUT:
            return f"(ended after {ran.seconds:.0f} s: it took too long. Give it more seconds, or run a part of it.)"
        case End.WAITING:
            return f"(ended: {ran.detail}. Nobody types here; give the answer as an argument or by a pipe.)"
        case End.CANCELLED:
            return f"(ended by the person after {ran.seconds:.1f} s)"
        case _:
            return f"({ran.end}, code {ran.code}: {ran.detail})"
