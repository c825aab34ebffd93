"""What is learnt of a choice: which of the answers that go on from one question is right.

An answer's score is what the product ranks by: `loglik` times the log-likelihood of its tokens and `tokens` times their
number. The loss is the cross-entropy of the right one among all of the question's answers.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import torch
from torch import Tensor
from torch.autograd import Function

from engine.train.loss import ROWS, slopes
from engine.train.rows import Rows


@dataclass(frozen=True, slots=True)
class Choices:
    """Of a batch with A answers to G questions and n tokens in answers. rows: [n], whose logits predict a token;
    targets: [n], what; answers: [n], whose it is; learnt: [n], whether it is the right one's. lengths: [A]; questions:
    [A], which one is answered; right: [G], the number of the right answer; first: [G], of the first answer; sizes: [G],
    how many there are. kind: of the questions."""

    rows: Tensor
    targets: Tensor
    answers: Tensor
    learnt: Tensor
    lengths: Tensor
    questions: Tensor
    right: Tensor
    first: Tensor
    sizes: Tensor
    kind: str

    @classmethod
    def of(cls, rows: Rows) -> Choices | None:
        """None where nothing is chosen. The right answer is the one that is learnt."""
        if rows.parents is None or not bool((rows.parents >= 0).any()):
            return None
        bound = (rows.parents >= 0).nonzero().flatten()
        starts, lengths = rows.starts[bound], rows.starts.diff()[bound]
        answers = torch.repeat_interleave(torch.arange(len(bound)), lengths)
        place = torch.arange(len(answers)) - (lengths.cumsum(0) - lengths)[answers]
        tokens = starts[answers] + place
        # an answer's first token is told by the end of the question
        ends = rows.starts[rows.parents[bound] + 1]
        before = torch.where(place == 0, ends[answers], tokens) - 1
        learnt = rows.learn[tokens]
        _, questions, sizes = rows.parents[bound].unique_consecutive(return_inverse=True, return_counts=True)
        right = rows.learn[starts].nonzero().flatten()
        first = sizes.cumsum(0) - sizes
        kind = rows.kinds[int(bound[0])]
        return cls(
            before, rows.tokens[tokens], answers, learnt, lengths, questions, right, first, sizes, kind
        )

    def chosen(self, told: Tensor, loglik: float, tokens: float) -> tuple[Tensor, Chosen]:
        """The loss summed over questions, and how good the choice is. told: [n], of each token its log-likelihood."""
        device = told.device
        totals = torch.zeros(len(self.lengths), device=device).index_add(0, self.answers.to(device), told)
        scores = loglik * totals + tokens * self.lengths.to(device)
        padded = scores.new_full((len(self.sizes), int(self.sizes.max())), -torch.inf)
        column = torch.arange(len(self.lengths)) - self.first[self.questions]
        padded = padded.index_put((self.questions.to(device), column.to(device)), scores)
        loss = (padded.logsumexp(1) - scores[self.right.to(device)]).sum()
        return loss, self._judged(scores.detach().cpu(), float(loss.detach()))

    def _judged(self, scores: Tensor, loss: float) -> Chosen:
        best = scores[self.right][self.questions]
        above = torch.zeros(len(self.sizes)).index_add_(0, self.questions, (scores > best).float())
        beside = torch.zeros(len(self.sizes)).index_add_(0, self.questions, (scores == best).float()) - 1
        rank = 1 + above + beside / 2
        # answers stand as priors order them
        prior = (self.right - self.first + 1).float()
        sizes = self.sizes.float()
        chance = sum(float((1 / torch.arange(1, size + 1)).mean()) for size in self.sizes.tolist())
        return Chosen(
            questions=len(sizes),
            loss=loss,
            first=int((rank < 1.5).sum()),
            reciprocal=float((1 / rank).sum()),
            priors_first=int((prior == 1).sum()),
            priors_reciprocal=float((1 / prior).sum()),
            chance_first=float((1 / sizes).sum()),
            chance_reciprocal=chance,
        )


@dataclass(frozen=True, slots=True)
class Chosen:
    """Sums over questions: of the loss; of those whose right answer comes first, and of its reciprocal rank: by the
    model, by the order that the answers stand in, by chance."""

    questions: int = 0
    loss: float = 0.0
    first: int = 0
    reciprocal: float = 0.0
    priors_first: int = 0
    priors_reciprocal: float = 0.0
    chance_first: float = 0.0
    chance_reciprocal: float = 0.0

    def __add__(self, other: Chosen) -> Chosen:
        return Chosen(*(getattr(self, name) + getattr(other, name) for name in _NAMES))

    def words(self) -> dict[str, float]:
        """Means, for the log; nothing where nothing was chosen."""
        if not self.questions:
            return {}
        means = {name: round(getattr(self, name) / self.questions, 4) for name in _NAMES[1:]}
        return {"questions": self.questions, **means}


_NAMES = tuple(field.name for field in fields(Chosen))


class Likely(Function):
    """log p of each target: [n] fp32, as `loss.CrossEntropy` has it, for a loss in which each may weigh something else:
    the logits are computed once more on the way back."""

    @staticmethod
    def forward(ctx, x: Tensor, head: Tensor, targets: Tensor) -> Tensor:
        ctx.save_for_backward(x, head, targets)
        told = x.new_empty(len(x), dtype=torch.float32)
        for first in range(0, len(x), ROWS):
            part = slice(first, first + ROWS)
            logits = (x[part] @ head.T).float()
            told[part] = logits.gather(1, targets[part, None])[:, 0] - logits.logsumexp(-1)
        return told

    @staticmethod
    def backward(ctx, grad: Tensor):
        x, head, targets = ctx.saved_tensors
        grad_x, grad_head = torch.empty_like(x), torch.zeros_like(head, dtype=torch.float32)
        for first in range(0, len(x), ROWS):
            part = slice(first, first + ROWS)
            slope = slopes(x[part] @ head.T, targets[part])[1] * -grad[part, None].to(x.dtype)
            grad_x[part] = slope @ head
            grad_head += slope.T @ x[part]
        return grad_x, grad_head.to(head.dtype), None
