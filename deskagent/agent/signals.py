"""Signals as an exception, so that `finally` runs and the last event is written."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

from deskagent.errors import DeskagentError

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(BaseException):
    """A signal asked the run to end. Exit code 128 + its number."""

    def __init__(self, number: int) -> None:
        super().__init__(f"stopped by {signal.Signals(number).name}")
        self.exit_code = 128 + number


def words(error: BaseException) -> dict[str, str]:
    """What ended a run, for its result: an expected error and a signal in their own words, a fault with its kind."""
    if isinstance(error, DeskagentError):
        return {"message": error.message, "hint": error.hint}
    return {
        "message": str(error) if isinstance(error, Stopped) else f"{type(error).__name__}: {error}",
        "hint": "",
    }


def ignore() -> None:
    """From here to the end of `signals_raise` a signal does nothing: what is left is short and has to be whole."""
    for each in _SIGNALS:
        signal.signal(each, signal.SIG_IGN)


@contextlib.contextmanager
def signals_raise() -> Iterator[None]:
    """Within, the first SIGINT, SIGTERM or SIGHUP raises Stopped in the main thread; later ones are ignored,
    so that cleaning up is not cut short. A SIGHUP that is ignored already (nohup) stays so."""
    told = [s for s in _SIGNALS if s is not signal.SIGHUP or signal.getsignal(s) is not signal.SIG_IGN]

    def handle(number: int, frame: FrameType | None) -> None:
        ignore()
        raise Stopped(number)

    before = {each: signal.signal(each, handle) for each in told}
    try:
        yield
    finally:
        for each, old in before.items():
            signal.signal(each, old)
