"""Asking again: when, how often, and never once something of an answer was handed out."""

from __future__ import annotations

import asyncio
import email.utils
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass

from deskagent.providers.base import Delta, ProviderError, Retrying, Usage
from deskagent.providers.errors import PASSING


@dataclass(frozen=True, slots=True)
class Patience:
    """tries: in all. first: seconds before the second; twice that before the third, and so on, `most` at most. longest:
    a server that wants us to wait for longer than this is given up."""

    tries: int = 6
    first: float = 0.5
    most: float = 30.0
    longest: float = 120.0

    def pause(self, tried: int, after: float | None, jitter: float) -> float | None:
        """Seconds before the next try after `tried` of them, None for no more. jitter: from 0 to 1."""
        if tried >= self.tries or (after is not None and after > self.longest):
            return None
        grown = min(self.most, self.first * 2 ** (tried - 1))
        return max(grown * (0.5 + jitter / 2), after or 0.0)


async def persist(
    attempt: Callable[[], AsyncIterator[Delta]],
    patience: Patience,
    *,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    jitter: Callable[[], float] = random.random,
) -> AsyncIterator[Delta]:
    """The deltas of the first attempt that gives any but usage; Retrying before each further one."""
    tried = 0
    while True:
        tried += 1
        handed = False
        try:
            async with aclosing(attempt()) as deltas:  # pyright: ignore[reportArgumentType]
                async for delta in deltas:
                    handed = handed or not isinstance(delta, Usage)
                    yield delta
            return
        except ProviderError as error:
            if handed or error.trouble not in PASSING:
                raise
            seconds = patience.pause(tried, getattr(error, "after", None), jitter())
            if seconds is None:
                raise
            why = error.message
        yield Retrying(why, seconds)
        await sleep(seconds)


def after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a response's headers ask us to wait."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            if (seconds := float(headers[name]) * scale) >= 0:
                return seconds
        except (KeyError, ValueError):
            continue
    try:
        return max(0.0, email.utils.parsedate_to_datetime(headers["retry-after"]).timestamp() - time.time())
    except (KeyError, ValueError, TypeError):
        return None
