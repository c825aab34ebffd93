"""A vector for a text: the mean of what the head would read, of length one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from engine.cache.pages import History, Memory
from engine.errors import CapacityError
from engine.generate.flat import Run, flat
from engine.model import Model


class Embedding:
    """One request to embed: `steps` runs it a pass at a time; then `vectors` is [len(texts), hidden] fp32."""

    def __init__(self, model: Model, memory: Memory, texts: Sequence[Sequence[int]], budget: int) -> None:
        self.model, self.memory, self.budget = model, memory, budget
        self.vectors = torch.zeros(len(texts), model.config.hidden)
        self._texts = texts
        self._next = 0
        self._running: dict[int, History] = {}

    def steps(self) -> Iterator[bool]:
        """Yields True after each pass, False where there was no memory for one."""
        while self._running or self._next < len(self._texts):
            self._start()
            yield self._step()
        self.vectors /= self.vectors.norm(dim=1, keepdim=True).clamp(min=1e-12)

    def close(self) -> None:
        """Gives all memory back."""
        for history in self._running.values():
            history.release()
        self._running = {}

    def _start(self) -> None:
        """Texts, while there is room for the whole of each."""
        room = self.budget - sum(len(self._texts[n]) - one.length for n, one in self._running.items())
        while room > 0 and self.memory.free_slots and self._next < len(self._texts):
            history = History(self.memory)
            try:
                history.reserve(len(self._texts[self._next]))
            except CapacityError:
                history.release()
                return
            self._running[self._next] = history
            room -= len(self._texts[self._next])
            self._next += 1

    def _step(self) -> bool:
        runs: list[Run] = []
        left = self.budget
        for number, history in self._running.items():
            tokens = self._texts[number][history.length : history.length + left]
            left -= len(tokens)
            if tokens:
                runs.append(Run(history, tokens))
        if not runs:
            return False
        with torch.inference_mode():
            rows = self.model.hidden(flat(runs, self.model.weights.norm.device), self.memory.pools)
        numbers = {id(history): number for number, history in self._running.items()}
        for run, found in zip(runs, rows.split([len(run.tokens) for run in runs]), strict=True):
            number = numbers[id(run.history)]
            self.vectors[number] += found.float().sum(0).cpu()
            run.history.advance(len(run.tokens))
            if run.history.length == len(self._texts[number]):
                run.history.release()
                del self._running[number]
        return True
