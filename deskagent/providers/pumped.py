"""A blocking client followed by a thread of its own, for who waits on a loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from typing import TypeVar

_Said = TypeVar("_Said")


async def pumped(follow: Callable[[threading.Event], Iterator[_Said]], name: str) -> AsyncIterator[_Said]:
    """What `follow` says, and what it raises. It gets an event that is set where nobody listens any more: it should
    end then. name: of the thread."""
    loop, stop = asyncio.get_running_loop(), threading.Event()
    said: asyncio.Queue[tuple[_Said] | BaseException | None] = asyncio.Queue()

    def tell(what: tuple[_Said] | BaseException | None) -> None:
        with suppress(RuntimeError):  # nobody listens any more: the loop has ended
            loop.call_soon_threadsafe(said.put_nowait, what)

    def run() -> None:
        try:
            for one in follow(stop):
                tell((one,))
            tell(None)
        except BaseException as error:
            tell(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    try:
        while (one := await said.get()) is not None:
            if isinstance(one, BaseException):
                raise one
            yield one[0]
    finally:
        stop.set()
