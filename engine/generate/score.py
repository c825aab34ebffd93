"""Log-likelihoods of many continuations of one context: its state is computed once and forked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.cache.pages import History, Memory
from engine.errors import CapacityError
from engine.generate.flat import Run, flat
from engine.generate.trie import Branch, branches, folded
from engine.model import Model

_AGAIN = 32
"""Tokens that are rather computed again than a pass more is made: about what a pass of a small model costs beyond."""


@dataclass(frozen=True, slots=True)
class Score:
    """Log-likelihood of each of a continuation's tokens after context and earlier tokens, natural logarithm."""

    tokens: tuple[float, ...]

    @property
    def total(self) -> float:
        return sum(self.tokens)


@dataclass(slots=True)
class _Fork:
    """What several branches go on from: pages shared, the state in main memory. `left`: branches yet to run."""

    pages: History
    state: list[Tensor]
    left: int


@dataclass(slots=True)
class _Job:
    """A branch to be run. first: log-likelihood of its first token. path: of the tokens before it, the context's last
    among them."""

    branch: Branch
    fork: _Fork
    first: float
    path: tuple[float, ...]

    def tokens(self) -> Sequence[int]:
        """Those that something follows: what comes after a last token isn't asked."""
        return self.branch.tokens if self.branch.ways else self.branch.tokens[:-1]


class Scoring:
    """One request to score: `steps` runs it a pass at a time, so that others can go in between; then `scores` holds
    an entry for each continuation."""

    def __init__(
        self,
        model: Model,
        memory: Memory,
        history: History,
        continuations: Sequence[Sequence[int]],
        budget: int,
    ) -> None:
        """history: of the context less its last token; given back at the end or by `close`. budget: tokens a pass."""
        self.model, self.memory = model, memory
        self.most = max(budget, 1)
        self.scores: list[Score] = [Score(())] * len(continuations)
        self._branches = branches(continuations, self.most)
        self._history: History | None = history
        self._jobs: list[_Job] = []

    def steps(self, last: int) -> Iterator[bool]:
        """last: the context's last token. Yields True after each pass, False where there was no memory for one."""
        history, self._history = self._history, None
        if history is None or not self._branches:
            if history is not None:
                history.release()
            return
        root = Branch([last], [])
        root.ways = self._branches
        self._fork(history, [(way, 0.0) for way in folded([root], _AGAIN, self.most)], ())
        while self._jobs:
            yield self._step()

    def close(self) -> None:
        """Gives all memory back."""
        if self._history is not None:
            self._history.release()
            self._history = None
        for job in self._jobs:
            job.fork.pages.release()
        self._jobs = []

    def _step(self) -> bool:
        """As many branches as memory and the budget allow, the latest found first: those free the most."""
        taken: list[tuple[_Job, History]] = []
        rows = 0
        while self._jobs:
            job = self._jobs[-1]
            rows += len(job.tokens())
            if taken and rows > self.most:
                break
            history = self._start(job)
            if history is None:
                break
            self._jobs.pop()
            taken.append((job, history))
        if not taken:
            return False
        try:
            known = self._pass(taken)
        except BaseException:
            for _, history in taken:
                history.release()
            raise
        self._settle(taken, known)
        return True

    def _start(self, job: _Job) -> History | None:
        """A fork with room for the branch; None where memory is short."""
        fork = job.fork
        if not self.memory.free_slots:
            return None
        history = History.of(self.memory, fork.pages.pages, fork.pages.length, fork.state)
        if fork.left == 1:
            fork.pages.release()  # for the last one the partly filled page needn't be copied
        try:
            history.reserve(len(job.tokens()))
        except CapacityError:
            if fork.left == 1:
                history.drop_slot()
                fork.pages = history
            else:
                history.release()
            return None
        fork.left -= 1
        return history

    def _settle(self, taken: list[tuple[_Job, History]], known: list[float]) -> None:
        """known: of each job the log-likelihoods of what follows its tokens, as `_asked` names them."""
        end = 0
        for job, history in taken:
            branch, start = job.branch, end
            inside, end = start + len(branch.tokens) - 1, start + len(branch.tokens) - 1 + len(branch.ways)
            path = (*job.path, job.first, *known[start:inside])
            self._note(branch, path)
            if branch.ways:
                self._branch(history, branch.ways, known[inside:end], path)
            else:
                history.release()

    def _branch(
        self, history: History, ways: list[Branch], firsts: list[float], path: tuple[float, ...]
    ) -> None:
        """Jobs for what follows `history`, which gives up its slot. firsts: of the ways' first tokens."""
        more: list[tuple[Branch, float]] = []
        for way, first in zip(ways, firsts, strict=True):
            if len(way.tokens) == 1 and not way.ways:
                self._note(way, (*path, first))
            else:
                more.append((way, first))
        self._fork(history, more, path)

    def _fork(self, history: History, ways: list[tuple[Branch, float]], path: tuple[float, ...]) -> None:
        """ways: with the log-likelihood of each one's first token."""
        if not ways:
            history.release()
            return
        fork = _Fork(history, self.memory.pools.save_slot(history.state), len(ways))
        history.drop_slot()
        self._jobs += [_Job(way, fork, first, path) for way, first in ways]

    def _note(self, branch: Branch, path: tuple[float, ...]) -> None:
        for number in branch.ends:
            self.scores[number] = Score(path[1:])

    def _pass(self, taken: list[tuple[_Job, History]]) -> list[float]:
        """Log-likelihoods of what follows each row, job after job."""
        runs = [Run(history, job.tokens()) for job, history in taken]
        rows, tokens = _asked([job.branch for job, _ in taken])
        device = self.model.weights.norm.device
        pairs = torch.tensor([rows, tokens], dtype=torch.int64).to(device)
        with torch.inference_mode():
            known = self.model.loglik(flat(runs, device), self.memory.pools, pairs[0], pairs[1]).tolist()
        for run in runs:
            run.history.advance(len(run.tokens))
        return known


def _asked(several: Sequence[Branch]) -> tuple[list[int], list[int]]:
    """Rows of a pass and tokens after them, of each branch: its own tokens after one another, then the first of each
    way on."""
    rows, tokens, end = list[int](), list[int](), 0
    for branch in several:
        last = end + len(branch.tokens) - 1
        rows += [*range(end, last), *([last] * len(branch.ways))]
        tokens += [*branch.tokens[1:], *(way.tokens[0] for way in branch.ways)]
        end = last + 1 if branch.ways else last
    return rows, tokens
