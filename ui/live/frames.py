"""What happens on other threads is looked at on the app's own, at most once a frame."""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections.abc import Awaitable, Callable
from typing import Any

from textual.app import App

FRAME = 1 / 30
"""Seconds between two looks."""


class Frames:
    """look: called on the app's thread after `wake`. Made there, while the app runs."""

    def __init__(self, app: App[Any], look: Callable[[], Awaitable[None]]) -> None:
        self._app, self._look = app, look
        self._loop = asyncio.get_running_loop()
        self._context = contextvars.copy_context()
        self._looked = 0.0

    def wake(self) -> None:
        """On any thread: there is something to look at."""
        try:
            self._loop.call_soon_threadsafe(self._soon, context=self._context)
        except RuntimeError:
            return  # the app has ended

    def _soon(self) -> None:
        left = FRAME - (time.monotonic() - self._looked)
        if left > 0:
            self._app.set_timer(left, self._now)
        else:
            self._app.call_later(self._now)

    async def _now(self) -> None:
        self._looked = time.monotonic()
        await self._look()
