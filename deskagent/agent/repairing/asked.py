"""What one model at a repair works with: the problem, the table for its patches, its place in the session, limits."""

from __future__ import annotations

from dataclasses import dataclass

from deskagent.agent.converse.rules import Rules
from deskagent.agent.converse.talk import Limits, Meter
from deskagent.agent.repairing.problem import Problem
from deskagent.agent.repairing.seat import Seat
from deskagent.agent.repairing.table import Table
from deskagent.providers.base import Provider
from deskagent.session.history import History


@dataclass(frozen=True)
class Asked:
    """name: of the model, with its plan where there are several. plan: see words.PLANS. moves: as in Talk. limits,
    meter: of all models together."""

    name: str
    plan: int | None
    problem: Problem
    table: Table
    recorder: Seat
    history: History
    provider: Provider
    moves: bool
    effort: str
    rules: Rules
    limits: Limits
    meter: Meter

    @property
    def spent(self) -> str:
        """Which limit is reached, in words; "" where none is."""
        usd = sum(step.cost_usd for step in self.recorder.steps)
        used = {"turns": (self.meter.turns, self.limits.turns), "usd": (usd, self.limits.usd)}
        over = [name for name, (spent, most) in used.items() if most is not None and spent >= most]
        return f"The limit of {over[0]} is reached." if over else ""
