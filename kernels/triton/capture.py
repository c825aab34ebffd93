"""A step recorded as a CUDA graph and replayed in one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import torch

Result = TypeVar("Result", bound=torch.Tensor)


class Captured(Generic[Result]):
    """Runs `step` once, which compiles what it needs, then records it without running it.

    `replay` runs it again on the same memory: change the inputs in place before it, read `result` after it; both live
    as long as this. Errors: RuntimeError of PyTorch for a step that asks the device for a number.
    """

    def __init__(self, step: Callable[[], Result]) -> None:
        first = step()
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            self.result = step()
        self.result.copy_(first)

    def replay(self) -> Result:
        self._graph.replay()
        return self.result
