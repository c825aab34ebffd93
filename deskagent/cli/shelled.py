"""A shell line that the person runs in the middle of a conversation, whose output the model sees."""

from __future__ import annotations

import threading
from dataclasses import replace

from deskagent.agent.converse.talk import Talk
from deskagent.messages import Part, Text
from deskagent.tools.terminal import Terminal, TerminalArguments

_SECONDS = 600.0


def shelled(line: str, talk: Talk, cancel: threading.Event | None = None) -> tuple[Part, ...]:
    """The line and its output, as they are told to the model. It runs as the model's own lines do, in the sandbox.
    cancel: ends it when it is set."""
    context = talk.hands.context("shell")
    context = replace(context, cancel=cancel or context.cancel)
    result = Terminal().run(TerminalArguments(command=line, seconds=_SECONDS), context)
    told = "".join(part.text for part in result.content if isinstance(part, Text))
    return (Text(f"I ran `{line.strip()}`:\n{told}"),)
