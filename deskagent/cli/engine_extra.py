"""The embedded engine, for commands that need it: absent without its extra, its errors told as ours."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager

from deskagent.errors import DeskagentError, TransientError, UsageError


@contextmanager
def engine(*beside: str) -> Iterator[None]:
    """A block that uses the engine. beside: packages that it needs besides torch.

    Errors: UsageError where one is not installed; DeskagentError for the engine's own, TransientError for too little
    memory or room.
    """
    absent = [name for name in ("torch", *beside) if importlib.util.find_spec(name) is None]
    if absent:
        wanted = " ".join("'deskagent[engine]'" if name == "torch" else name for name in absent)
        raise UsageError(
            f"This needs the embedded engine, and {' and '.join(absent)} is not installed.",
            hint=f"Install it: pip install {wanted}",
        )
    from engine.errors import CapacityError, EngineError

    try:
        yield
    except CapacityError as error:
        raise TransientError(str(error)) from error
    except EngineError as error:
        raise DeskagentError(str(error)) from error
