"""A step that is recorded once and replayed in one call: what Python does between kernels isn't done again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from kernels.capture import CaptureError
from kernels.cpu import _native

Result = TypeVar("Result")


class Captured(Generic[Result]):
    """Runs `step` once, on this thread, and remembers the compiled operations that it called.

    `replay` calls them again on the same memory: change the inputs in place before it, read `result` after it; both
    live as long as this. Only calls of compiled operations are repeated: `step` must do all else with views.
    Errors: CaptureError if an operation had no compiled kernel; the step has then run all the same.
    """

    def __init__(self, step: Callable[[], Result]) -> None:
        self._recording = _native.Recording()
        self._recording.start()
        try:
            self.result = step()
        finally:
            self._recording.stop()
        if not self._recording.whole:
            raise CaptureError(
                "an operation has no compiled kernel for its dtypes, so the step can't be replayed",
                self.result,
            )

    def __len__(self) -> int:
        """Operations of the step."""
        return len(self._recording)

    def replay(self) -> Result:
        self._recording.replay()
        return self.result
