"""The patches that pass: in which order, what tells them apart, which of them the exact command refuted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from deskagent.repair import choose
from deskagent.repair.budget import Budget
from deskagent.repair.search import Trial
from deskagent.repair.verify import Verifier


@dataclass
class Greens:
    """`choices` has them all, the likeliest first; `behaviour` is what several were seen to do."""

    choices: list[choose.Choice] = field(default_factory=list)
    behaviour: choose.Behaviour = field(default_factory=choose.Behaviour)
    refuted: list[Trial] = field(default_factory=list)

    @property
    def standing(self) -> list[Trial]:
        """Those that no cold run has refuted, the likeliest first."""
        return [choice.trial for choice in self.choices if choice.trial not in self.refuted]

    def choice(self, trial: Trial) -> choose.Choice | None:
        """Why a trial stands where it stands."""
        return next((choice for choice in self.choices if choice.trial is trial), None)

    def rank(
        self, green: Sequence[Trial], context: choose.Context, verifier: Verifier, whole: Budget
    ) -> None:
        """Puts all green patches in order; two and more are compared by what they do, in a part of `whole`."""
        if len(green) == len(self.choices):
            return
        if len(green) > 1 and context.baseline:
            self.behaviour = choose.watch(
                verifier,
                context.baseline,
                context.read,
                [choice.trial for choice in choose.rank(green, context)],
                seconds=min(choose.MOST_SECONDS, choose.SHARE * whole.elapsed, whole.seconds_left),
            )
        self.choices = choose.rank(green, replace(context, behaviour=self.behaviour))
