"""A step that is recorded once and replayed in one call: what Python does between kernels isn't done again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import torch

from kernels.capture import CaptureError, here
from kernels.cpu import _native

Result = TypeVar("Result")


class Captured(Generic[Result]):
    """Runs `step` once, on this thread, and remembers the compiled operations that it called.

    `replay` calls them again on the same memory: change the inputs in place before it, read `result` after it; both
    live as long as this. Only calls of compiled operations, and what `kernels.capture.aside` got, are repeated: `step`
    must do all else with views.
    Errors: CaptureError if an operation had no compiled kernel; the step has then run all the same.
    """

    def __init__(self, step: Callable[[], Result]) -> None:
        self._recordings = [_native.Recording()]
        self._between: list[Callable[[], object]] = []
        """What is called after each recording but the last."""
        here.capturing = self
        self._recordings[0].start()
        try:
            self.result = step()
        finally:
            here.capturing = None
            self._recordings[-1].stop()
        if not all(recording.whole for recording in self._recordings):
            raise CaptureError(
                "an operation has no compiled kernel for its dtypes, so the step can't be replayed",
                self.result,
            )

    def __len__(self) -> int:
        """Operations of the step."""
        return sum(map(len, self._recordings))

    def aside(self, call: Callable[[], object]) -> None:
        """Calls it now, unrecorded, and in its place in every replay."""
        self._recordings[-1].stop()
        here.capturing = None
        call()
        here.capturing = self
        self._between.append(call)
        self._recordings.append(_native.Recording())
        self._recordings[-1].start()

    def replay(self) -> Result:
        self._recordings[0].replay()
        for call, recording in zip(self._between, self._recordings[1:], strict=True):
            with torch.inference_mode():
                call()
            recording.replay()
        return self.result
