"""Log-likelihoods of many continuations of one context: its state is computed once and forked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.cache.pages import History, Memory
from engine.errors import CapacityError
from engine.generate.flat import Run, flat
from engine.generate.trie import Branch, branches
from engine.model import Model

LOGIT_BYTES = 1 << 26
"""Of the logits that one pass may make."""


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
    """A branch to be run. first: log-likelihood of its first token. path: of the tokens before it."""

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
        self.most = max(min(budget, LOGIT_BYTES // (4 * model.config.vocab)), 1)
        self.scores: list[Score] = [Score(())] * len(continuations)
        self._branches = branches(continuations, self.most)
        self._history: History | None = history
        self._jobs: list[_Job] = []

    def steps(self, last: int) -> Iterator[bool]:
        """last: the context's last token. Yields True after each pass, False where there was no memory for one."""
        history = self._history
        while history is not None and self._branches:
            try:
                history.reserve(1)
                break
            except CapacityError:
                yield False
        if history is None or not self._branches:
            self.close()
            return
        (logits,) = self._pass([Run(history, [last])])
        self._history = None
        self._branch(history, self._branches, logits[-1], ())
        yield True
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
            found = self._pass([Run(history, job.tokens()) for job, history in taken])
        except BaseException:
            for _, history in taken:
                history.release()
            raise
        for (job, history), logits in zip(taken, found, strict=True):
            self._settle(job, history, logits)
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

    def _settle(self, job: _Job, history: History, logits: Tensor) -> None:
        """logits: [len(job.tokens()), V]; each row's tell of the token after it."""
        following = torch.tensor(job.branch.tokens[1:], device=logits.device, dtype=torch.int64)
        rows = logits[: len(following)]
        known = (rows.gather(1, following[:, None])[:, 0] - rows.logsumexp(-1)).tolist()
        path = (*job.path, job.first, *known)
        self._note(job.branch, path)
        if job.branch.ways:
            self._branch(history, job.branch.ways, logits[-1], path)
        else:
            history.release()

    def _branch(self, history: History, ways: list[Branch], logits: Tensor, path: tuple[float, ...]) -> None:
        """Jobs for what follows `history`, which gives up its slot. logits: [V], of the next token."""
        firsts = (logits[[way.tokens[0] for way in ways]] - logits.logsumexp(-1)).tolist()
        more: list[tuple[Branch, float]] = []
        for way, first in zip(ways, firsts, strict=True):
            if len(way.tokens) == 1 and not way.ways:
                self._note(way, (*path, first))
            else:
                more.append((way, first))
        if not more:
            history.release()
            return
        fork = _Fork(history, self.memory.pools.save_slot(history.state), len(more))
        history.drop_slot()
        self._jobs += [_Job(way, fork, first, path) for way, first in more]

    def _note(self, branch: Branch, path: tuple[float, ...]) -> None:
        for number in branch.ends:
            self.scores[number] = Score(path)

    def _pass(self, runs: list[Run]) -> list[Tensor]:
        """Logits of all rows of each run."""
        with torch.inference_mode():
            logits = self.model.forward(flat(runs, self.model.weights.norm.device), self.memory.pools)
        for run in runs:
            run.history.advance(len(run.tokens))
        return list(logits.split([len(run.tokens) for run in runs]))
