"""The signals by which the system ends a program."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable

ENDING = (signal.SIGTERM, signal.SIGHUP)


def heed(told: Callable[[int], None]) -> None:
    """Calls `told` with the number of one that comes, on the running loop. Without effect on other threads than the
    main one: a test, or somebody's own program."""
    loop = asyncio.get_running_loop()
    for number in ENDING:
        try:
            loop.add_signal_handler(number, told, number)
        except (ValueError, RuntimeError, NotImplementedError):
            return
