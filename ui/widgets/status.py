"""The line at the bottom: what is going on, and what it goes on with. What doesn't fit is left out from the right."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget

if TYPE_CHECKING:
    from ui.log.facts import Facts

_MODE = {"plan": "$text-secondary", "ask": "$text-primary", "auto": "$text-warning", "full": "$text-error"}
_GAP = "  "
_KEYS = {"working": "Esc interrupts", "stopping": "Esc again: at once", "": "F1 keys · / commands"}


@dataclass
class Status:
    """facts: of the session, None before one is open. context: tokens that the model takes. doing: what is going on, ""
    where nothing is. seconds: for how long. queued: messages that wait."""

    facts: Facts | None = None
    context: int = 0
    rung: str = ""
    branch: str = ""
    doing: str = ""
    seconds: int = 0
    queued: int = 0


def parts(status: Status) -> list[tuple[str, str]]:
    """Pieces and their styles, what matters most first."""
    facts = status.facts
    made: list[tuple[str, str]] = []
    if status.doing:
        clock = f" {status.seconds} s" if status.seconds else ""
        made.append((f"● {status.doing}{clock}", "$text-accent"))
    if status.queued:
        made.append((f"{status.queued} queued", "$text-secondary"))
    if facts is not None:
        made += _of_session(facts, status.context)
    if status.rung:
        made.append(
            ("no sandbox", "$text-error") if status.rung == "none" else (f"in {status.rung}", "$muted")
        )
    if status.branch:
        made.append((f"⎇ {status.branch}", "$muted"))
    return made


def _of_session(facts: Facts, context: int) -> list[tuple[str, str]]:
    made: list[tuple[str, str]] = []
    if facts.mode:
        made.append((facts.mode, _MODE.get(facts.mode, "$foreground")))
    if facts.model:
        made.append((facts.model, "$foreground"))
    if context and facts.used:
        share = facts.used / context
        style = "$text-error" if share > 0.9 else "$text-warning" if share > 0.7 else "$muted"
        made.append((f"context {share:.0%}", style))
    effort = facts.tier if facts.effort in ("", "auto") else facts.effort
    if effort:
        made.append((f"{effort}", "$muted"))
    if facts.usd:
        made.append((f"${facts.usd:.2f}" if facts.usd >= 0.01 else "<$0.01", "$muted"))
    elif facts.speed:
        made.append((f"{facts.speed:.0f} tok/s", "$muted"))
    if facts.cached is not None:
        made.append((f"cached {facts.cached:.0%}", "$muted"))
    return made


class StatusLine(Widget):
    """Right of the state: keys that matter now."""

    def __init__(self) -> None:
        super().__init__(id="status")
        self.status = Status()
        self.keys = ""
        self._began = 0.0
        self._clock: Timer | None = None

    def doing(self, what: str) -> None:
        """Says what is going on; a clock runs for as long as something is."""
        status = self.status
        if what and not status.doing:
            self._began = time.monotonic()
        status.doing, status.seconds = what, 0
        self.keys = _KEYS.get(what, "")
        if what and self._clock is None:
            self._clock = self.set_interval(1, self._tick)
        elif not what and self._clock is not None:
            self._clock.stop()
            self._clock = None
        self.refresh()

    def _tick(self) -> None:
        self.status.seconds = int(time.monotonic() - self._began)
        self.refresh()

    def render(self) -> Content:
        width = max(0, self.size.width - 2)
        line = Content("")
        for text, style in parts(self.status):
            piece = Content.assemble(_GAP if len(line) else "", (text, style))
            if line.cell_length + piece.cell_length > width:
                break
            line = line.append(piece)
        room = width - line.cell_length - len(self.keys)
        if self.keys and room >= len(_GAP):
            line = Content.assemble(line, " " * room, (self.keys, "$faint"))
        return line
