"""What all implementations of captured steps share."""

from __future__ import annotations

from typing import Any


class CaptureError(RuntimeError):
    """A step did something that a replay wouldn't do again. result: what the step gave; it has run all the same."""

    def __init__(self, message: str, result: Any) -> None:
        super().__init__(message)
        self.result = result
