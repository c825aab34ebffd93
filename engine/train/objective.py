"""What a batch is to be learnt by: its tokens, and its choices."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from engine.train.choice import Choices, Chosen, Likely
from engine.train.loss import CrossEntropy, Wanted
from engine.train.rows import Rows
from engine.train.settings import Settings


@dataclass(frozen=True, slots=True)
class Lost:
    """whole: the loss, with gradients, summed over learnt tokens and choices. by_kind: (sum, tokens) of tokens."""

    whole: Tensor
    by_kind: dict[str, tuple[float, int]]
    chosen: Chosen


@dataclass(frozen=True, slots=True)
class Objective:
    """choices: None where there are none; then `wanted` is all. A right answer's tokens are learnt as others are."""

    wanted: Wanted
    choices: Choices | None

    @classmethod
    def of(cls, rows: Rows) -> Objective:
        return cls(Wanted.of(rows), Choices.of(rows))

    @property
    def rows(self) -> Tensor:
        """[n], whose logits predict something."""
        return self.wanted.rows if self.choices is None else torch.cat([self.wanted.rows, self.choices.rows])

    @property
    def learnt(self) -> int:
        """Tokens."""
        return len(self.wanted.rows) + (0 if self.choices is None else int(self.choices.learnt.sum()))

    def lost(self, x: Tensor, head: Tensor, settings: Settings) -> Lost:
        """x: [n, D], what the head reads of `rows`."""
        count = len(self.wanted.rows)
        losses = CrossEntropy.apply(x[:count], head, self.wanted.targets.to(x.device))
        whole, by_kind = losses.sum(), self.wanted.by_kind(losses.detach())
        if self.choices is None:
            return Lost(whole, by_kind, Chosen())
        told = Likely.apply(x[count:], head, self.choices.targets.to(x.device))
        answer = -told[self.choices.learnt.to(x.device)].sum()
        choice, chosen = self.choices.chosen(told, settings.choice_loglik, settings.choice_tokens)
        before = by_kind.get(self.choices.kind, (0.0, 0))
        learnt = int(self.choices.learnt.sum())
        by_kind[self.choices.kind] = before[0] + float(answer.detach()), before[1] + learnt
        return Lost(whole + answer + settings.choice * choice, by_kind, chosen)
