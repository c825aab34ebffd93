"""The signals by which the system ends a program."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import threading
import time
from collections.abc import Callable

ENDING = (signal.SIGTERM, signal.SIGHUP)
_GRACE = 5.0
"""Seconds that the app has to leave once its conversation has ended."""


def heed(told: Callable[[int], None]) -> None:
    """Calls `told` with the number of one that comes, on the running loop. Without effect on other threads than the
    main one: a test, or somebody's own program."""
    loop = asyncio.get_running_loop()
    for number in ENDING:
        try:
            loop.add_signal_handler(number, told, number)
        except (ValueError, RuntimeError, NotImplementedError):
            return


def end_surely(code: int, last: Callable[[], object]) -> None:
    """Ends this program some seconds after `last` has returned, if it hasn't ended by itself. Where the terminal is
    gone, the threads that write and read it never end, and the one that reads takes a whole processor."""

    def end() -> None:
        last()
        time.sleep(_GRACE)
        os._exit(code)

    threading.Thread(target=end, name="end", daemon=True).start()


def end_with_input() -> None:
    """Has this program told to end once nobody can write to its input any more: the server that it has for a terminal
    is gone then, which no signal says. Nothing is read."""

    def watch() -> None:
        watched = select.poll()
        watched.register(0, 0)  # that it is hung up is told unasked
        watched.poll()
        os.kill(os.getpid(), signal.SIGHUP)

    if hasattr(select, "poll"):
        threading.Thread(target=watch, name="input's end", daemon=True).start()
