"""What the status line says of a session: model, mode, tier, how full the context is, what it cost."""

from __future__ import annotations

from deskagent.agent.front import Passing
from deskagent.session import talk
from deskagent.session.event import Event


class Facts:
    """model, mode, effort: as chosen last. tier: of the answer that came last or is coming. used: tokens of context.
    cached: share of the last prompt that the server had already, None where nothing was asked. usd: in all. speed:
    tokens a second of the last answer, 0 where it is unknown."""

    def __init__(self) -> None:
        self.model = self.mode = self.effort = self.tier = ""
        self.used = 0
        self.cached: float | None = None
        self.usd = self.speed = 0.0
        self._main: set[str] = set()

    def take(self, event: Event | Passing) -> None:
        match event:
            case talk.Chosen(what="model", value=value):
                self.model = value
            case talk.Chosen(what="mode", value=value):
                self.mode = value
            case talk.Chosen(what="effort", value=value):
                self.effort = value
            case talk.ModelAsked(why=""):
                self.tier = event.tier
                self._main = {event.id}
            case talk.ModelAnswered(ask=ask, tokens=tokens):
                self.usd += event.cost_usd
                if ask in self._main:
                    self._answered(tokens, event.seconds)
            case _:
                return

    def _answered(self, tokens: dict[str, int], seconds: float) -> None:
        prompt, output = tokens.get("prompt", 0), tokens.get("output", 0)
        if prompt:
            self.used = prompt + output
            self.cached = tokens.get("cached", 0) / prompt
        self.speed = output / seconds if seconds > 0 else 0.0
