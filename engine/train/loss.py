"""Cross-entropy of the learnt tokens alone, some rows at a time, so that logits of all are never there at once."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.autograd import Function

from engine.train.fused import fused
from engine.train.rows import Rows

ROWS = 512
"""Logits at a time."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """rows: [n] int64, whose logits predict something. targets: [n], what. kinds: [n], which kind's sequence it is in,
    by its place in `names`."""

    rows: Tensor
    targets: Tensor
    kinds: Tensor
    names: tuple[str, ...]

    @classmethod
    def of(cls, rows: Rows) -> Wanted:
        names = tuple(sorted(set(rows.kinds)))
        learn = rows.learn.clone()
        learn[rows.starts[:-1]] = False
        if rows.parents is not None:  # what goes on from another sequence is learnt as a choice
            learn &= torch.repeat_interleave(rows.parents < 0, rows.starts.diff())
        learnt = learn.nonzero().flatten()
        of_sequence = torch.tensor([names.index(kind) for kind in rows.kinds])
        kinds = torch.repeat_interleave(of_sequence, rows.starts.diff())[learnt]
        return cls(learnt - 1, rows.tokens[learnt], kinds, names)

    def by_kind(self, losses: Tensor) -> dict[str, tuple[float, int]]:
        """(sum, tokens) of `losses` [n] by name."""
        sums = torch.zeros(len(self.names)).index_add_(0, self.kinds, losses.float().cpu())
        counts = self.kinds.bincount(minlength=len(self.names))
        return dict(zip(self.names, zip(sums.tolist(), counts.tolist(), strict=True), strict=True))


class CrossEntropy(Function):
    """−log p of each target: [n] fp32. x: [n, D]; head: [V, D]; targets: [n]. The logits are computed in the dtype of
    both; their gradient is taken on the way, for a loss that is the mean over rows times whatever is given back."""

    @staticmethod
    def forward(ctx, x: Tensor, head: Tensor, targets: Tensor) -> Tensor:
        wanted = ctx.needs_input_grad[0] or ctx.needs_input_grad[1]
        losses = x.new_empty(len(x), dtype=torch.float32)
        grad_x = torch.empty_like(x) if wanted else None
        grad_head = torch.zeros_like(head, dtype=torch.float32) if wanted else None
        for first in range(0, len(x), ROWS):
            part = slice(first, min(first + ROWS, len(x)))
            losses[part], slope = slopes(x[part] @ head.T, targets[part])
            if grad_x is not None and grad_head is not None:
                grad_x[part] = slope @ head
                grad_head += slope.T @ x[part]
        ctx.grads = grad_x, grad_head
        return losses

    @staticmethod
    def backward(ctx, grad: Tensor):
        grad_x, grad_head = ctx.grads
        ctx.grads = None
        # The head's part was summed over rows already, so all of them have to weigh the same.
        weight = grad[0] if len(grad) else grad.new_ones(())
        return grad_x * weight.to(grad_x.dtype), (grad_head * weight).to(grad_x.dtype), None


@fused
def slopes(logits: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """(−log p [n] fp32, its gradient by the logits [n, V] in their dtype)."""
    told = logits.float().log_softmax(-1)
    hit = torch.arange(logits.shape[1], device=logits.device) == targets[:, None]
    return -told.gather(1, targets[:, None])[:, 0], (told.exp() - hit.float()).to(logits.dtype)
