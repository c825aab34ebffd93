"""What all implementations of captured steps share."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Protocol


class CaptureError(RuntimeError):
    """A step did something that a replay wouldn't do again. result: what the step gave; it has run all the same."""

    def __init__(self, message: str, result: Any) -> None:
        super().__init__(message)
        self.result = result


class Capturing(Protocol):
    """A step that is being captured on a CPU."""

    def aside(self, call: Callable[[], object]) -> None: ...


class _Here(threading.local):
    capturing: Capturing | None = None


here = _Here()
"""What this thread is capturing."""


def aside(call: Callable[[], object]) -> None:
    """Calls what has to be decided anew each time, as which experts are in memory. In a step that is being captured, a
    replay comes back to Python at this place and calls it again; it has to read and write the same tensors each time.
    """
    if here.capturing is None:
        call()
    else:
        here.capturing.aside(call)
