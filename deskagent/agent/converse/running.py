"""Runs a conversation until it ends by itself or by a signal; what runs then is told to end, and is on record."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable

from deskagent.agent.converse.talk import Talk
from deskagent.agent.loop import State
from deskagent.agent.signals import Stopped

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run(talk: Talk, *, on_stop: Callable[[], None] = lambda: None) -> State:
    """Errors: Stopped after a signal, with all that was under way on record; what `Talk.run` raises. on_stop: called at
    the first signal, to let go of who waits for an answer; a second one ends the waiting for tools too."""
    return asyncio.run(_watched(talk, on_stop))


async def _watched(talk: Talk, on_stop: Callable[[], None]) -> State:
    loop, got = asyncio.get_running_loop(), []
    task = asyncio.ensure_future(talk.run())

    def stop(number: int) -> None:
        got.append(number)
        on_stop()
        task.cancel()

    told = [s for s in _SIGNALS if s is not signal.SIGHUP or signal.getsignal(s) is not signal.SIG_IGN]
    for number in told:
        loop.add_signal_handler(number, stop, number)
    try:
        return await task
    except asyncio.CancelledError:
        if got:
            raise Stopped(got[0]) from None
        raise
    finally:
        for number in told:
            loop.remove_signal_handler(number)
        await talk.provider.close()
