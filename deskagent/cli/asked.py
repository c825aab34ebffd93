"""Puts questions to the person at a terminal, and gives up waiting when the work that asked is cancelled."""

from __future__ import annotations

import select
import sys
import threading

from deskagent.agent.front import Question
from deskagent.terminal.text import printable

_TICK = 0.2
WORDS = {
    "once": ("y", "yes, once"),
    "session": ("s", "for this session"),
    "always": ("a", "always"),
    "no": ("n", "no"),
}
"""Choices of the gate → the key for each, and what it says."""


class Asker:
    """gone: set where nobody waits for an answer any more."""

    def __init__(self) -> None:
        self.gone = threading.Event()

    def choose(self, question: Question, choices: tuple[str, ...]) -> str:
        """A choice; where there are none, or the person writes something else, their own words. "" where they give
        none, which for the gate's questions means no."""
        gate = "no" in choices
        if question.subject:
            print(printable(question.subject), file=sys.stderr)
        shown = [
            f"[{WORDS[c][0]}] {WORDS[c][1]}" if c in WORDS else f"[{n}] {c}" for n, c in enumerate(choices, 1)
        ]
        print(printable(question.text), *shown, sep="  ", end=" > ", file=sys.stderr, flush=True)
        line = self._typed()
        if line is None:
            return "no" if gate else ""
        return _meant(line.strip(), choices, gate=gate)

    def _typed(self) -> str | None:
        """What is typed; None at the end of input, or when nobody waits any more."""
        while not self.gone.is_set():
            ready, _, _ = select.select([sys.stdin], [], [], _TICK)
            if ready:
                return sys.stdin.readline() or None
        return None


def _meant(line: str, choices: tuple[str, ...], *, gate: bool) -> str:
    keys = {WORDS[c][0] if c in WORDS else str(n): c for n, c in enumerate(choices, 1)}
    if line.lower() in keys:
        return keys[line.lower()]
    if line.lower() in choices:
        return line.lower()
    if gate:  # whatever isn't a clear yes is a no, with what was said for the model to hear
        return f"no: {line}" if line else "no"
    return line
