"""Signals as an exception, so that `finally` runs and the last event is written."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(BaseException):
    """A signal asked the run to end. Exit code 128 + its number."""

    def __init__(self, number: int) -> None:
        super().__init__(f"stopped by {signal.Signals(number).name}")
        self.exit_code = 128 + number


@contextlib.contextmanager
def signals_raise() -> Iterator[None]:
    """Within, the first SIGINT, SIGTERM or SIGHUP raises Stopped in the main thread; later ones are ignored,
    so that cleaning up is not cut short."""

    def handle(number: int, frame: FrameType | None) -> None:
        for each in _SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        raise Stopped(number)

    before = {each: signal.signal(each, handle) for each in _SIGNALS}
    try:
        yield
    finally:
        for each, old in before.items():
            signal.signal(each, old)
