"""How much of the attention a choice of tokens keeps: the indexer's, a window of the last ones, a random one."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

CHOICES = ("indexer", "recent", "random")
LEAST = 64
"""Tokens seen, below which a row is not counted."""


@dataclass(slots=True)
class Recall:
    """Sums over rows of the attention mass that each of CHOICES keeps. quarter: with a quarter of the tokens seen.
    top: with the model's own top-k, of rows that see more."""

    quarter: Tensor
    quarter_rows: int
    top: Tensor
    top_rows: int

    @classmethod
    def none(cls) -> Recall:
        return cls(torch.zeros(len(CHOICES)), 0, torch.zeros(len(CHOICES)), 0)

    def add(self, other: Recall) -> None:
        self.quarter = self.quarter + other.quarter
        self.quarter_rows += other.quarter_rows
        self.top = self.top + other.top
        self.top_rows += other.top_rows

    def means(self) -> dict[str, dict[str, float]]:
        """By `quarter` and `top`, those that have rows: choice → mean mass."""
        found = {"quarter": (self.quarter, self.quarter_rows), "top": (self.top, self.top_rows)}
        return {
            name: dict(zip(CHOICES, (sums / rows).tolist(), strict=True))
            for name, (sums, rows) in found.items()
            if rows
        }


@torch.no_grad()
def recall(attention: Tensor, scores: Tensor, past: Tensor, top_k: int, generator: torch.Generator) -> Recall:
    """Of rows of one span. attention: [n, L], each row's over its past; scores: [n, L], the indexer's; past: [n, L]
    bool, what each sees, itself included."""
    attention, scores, past = attention.cpu(), scores.cpu(), past.cpu()
    seen = past.sum(1)
    recent = torch.arange(scores.shape[1]).expand_as(scores).float()
    by = (scores, recent, torch.rand(scores.shape, generator=generator))
    found = Recall.none()
    for counted, k, name in (
        (seen >= LEAST, seen // 4, "quarter"),
        (seen > top_k, seen.clamp(max=top_k), "top"),
    ):
        if not counted.any():
            continue
        own = [best(one[counted], past[counted], k[counted]) for one in by]
        mass = torch.stack([(attention[counted] * one).sum() for one in own])
        setattr(found, name, mass)
        setattr(found, f"{name}_rows", int(counted.sum()))
    return found


def best(scores: Tensor, past: Tensor, k: int | Tensor) -> Tensor:
    """The k best of the keys that each row sees, of equal ones the first: [n, L] bool.

    scores: [n, L]; past: [n, L] bool; k: one number, at most L, or [n] of them.
    """
    scores = scores.masked_fill(~past, -torch.inf)
    if isinstance(k, int):
        edge = scores.topk(k).values[:, -1:]
        wanted: int | Tensor = k
    else:
        edge = scores.sort(descending=True).values.gather(1, k[:, None] - 1)
        wanted = k[:, None]
    above = scores > edge
    tied = (scores == edge) & past
    return above | (tied & (tied.cumsum(1) <= wanted - above.sum(1, keepdim=True)))
