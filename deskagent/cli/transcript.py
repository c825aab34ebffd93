"""Prints a conversation as it goes: the model's words as they come, a line for every call, questions in between."""

from __future__ import annotations

import json
import os
import sys
from typing import TextIO

from deskagent.agent.front import Passing, Printed, Question, Streamed
from deskagent.cli.asked import Asker
from deskagent.messages import Call, Outcome, Text
from deskagent.providers.base import Retrying, TextDelta, ThinkingDelta
from deskagent.session import events, talk
from deskagent.session.event import Event
from deskagent.terminal.text import printable
from deskagent.tools.plain import plain

_LINE = 160
_MARKS = {
    Outcome.DONE: "✓",
    Outcome.FAILED: "✗",
    Outcome.REFUSED: "⊘",
    Outcome.CANCELLED: "–",
    Outcome.UNKNOWN: "?",
}
_DIM, _PLAIN = "\x1b[2m", "\x1b[0m"


class Transcript(Asker):
    """out: where it goes. colour: whether thinking and output are dimmed."""

    def __init__(self, out: TextIO, *, interactive: bool, colour: bool) -> None:
        super().__init__()
        self.interactive = interactive
        self._out, self._colour = out, colour
        self._calls: dict[str, Call] = {}
        self._agents: dict[str, str] = {}
        self._open = ""
        """What kind of text the line that is open holds."""

    def ask(self, question: Question) -> bool:
        self._end_line()
        return self.choose(question, ("once", "no")) == "once"

    def choose(self, question: Question, choices: tuple[str, ...]) -> str:
        self._end_line()
        return super().choose(question, choices)

    def show(self, event: Event | Passing) -> None:
        match event:
            case Streamed(delta=ThinkingDelta(text=text)):
                self._write(text, "thinking")
            case Streamed(delta=TextDelta(text=text)):
                self._write(text, "text")
            case Streamed(delta=Retrying(why=why, seconds=seconds)):
                self._line(f"… {why}; once more in {seconds:.0f} s", dim=True)
            case Printed(text=text):
                self._write(plain(text), "output")
            case talk.PartCame(part=Call() as call):
                self._calls[call.id] = call
                self._line(f"● {call.name} {_arguments(call)}")
            case talk.CallEnded(id=id, result=result):
                first = next((part.text for part in result.content if isinstance(part, Text)), "")
                name = self._calls[id].name if id in self._calls else id
                told = first.strip().split("\n")[0] if result.outcome is not Outcome.DONE else ""
                self._line(f"  {_MARKS[result.outcome]} {name} {told}", dim=True)
            case talk.AgentBegun(id=id, name=name, task=task):
                self._agents[id] = name or id
                self._line(f"  ┆ {name or id}: {task}", dim=True)
            case events.Within(agent=id, event=talk.PartCame(part=Call() as call)):
                self._line(f"  ┆ {self._agents.get(id, id)}: {call.name} {_arguments(call)}", dim=True)
            case talk.ModelAnswered(error=error) if error:
                self._line(f"✗ {error}")
            case events.Notice(text=text):
                self._line(text, dim=True)
            case _:
                return

    def end(self) -> None:
        """Nothing more comes."""
        self._end_line()

    def _write(self, text: str, kind: str) -> None:
        if kind != self._open:
            self._end_line()
            self._open = kind
            self._dim(kind != "text")
        self._out.write(printable(text))
        self._out.flush()

    def _line(self, text: str, *, dim: bool = False) -> None:
        self._end_line()
        shown = printable(text, newlines=False)
        self._dim(dim)
        self._out.write(shown if len(shown) <= _LINE else f"{shown[:_LINE]}…")
        self._open = "line"
        self._end_line()

    def _dim(self, on: bool) -> None:
        if on and self._colour:
            self._out.write(_DIM)

    def _end_line(self) -> None:
        if self._open:
            self._out.write(f"{_PLAIN if self._colour else ''}\n")
            self._out.flush()
        self._open = ""


def _arguments(call: Call) -> str:
    """The first argument's value, which says what it is about, or all as they stand."""
    try:
        found = json.loads(call.arguments or "{}")
    except ValueError:
        return call.arguments
    if not isinstance(found, dict) or not found:
        return ""
    value = next(iter(found.values()))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def for_terminal(*, interactive: bool) -> Transcript:
    """On stdout where it is a terminal, so that the answer stands there once; else on stderr."""
    out = sys.stdout if sys.stdout.isatty() else sys.stderr
    return Transcript(out, interactive=interactive, colour=out.isatty() and not os.environ.get("NO_COLOR"))
