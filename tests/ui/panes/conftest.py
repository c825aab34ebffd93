"""An app with one pane in it, and what it looks like as text."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widget import Widget

SIZES = ((80, 24), (120, 36), (250, 80))


class Host(App[None]):
    """Holds the pane and keeps the messages that come out of it."""

    def __init__(self, pane: Widget) -> None:
        super().__init__()
        self.pane = pane
        self.got: list[Any] = []

    def compose(self) -> ComposeResult:
        yield self.pane

    def text(self) -> str:
        """The screen, line by line."""
        strips = self.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips)


@pytest.fixture
def hosted() -> Callable[..., None]:
    """Runs a test's coroutine in an app with a pane: hosted(pane, play, size=…)."""

    def run(
        pane: Widget,
        play: Callable[[Any, Pilot[None]], Awaitable[None]],
        *,
        size: tuple[int, int] = (120, 36),
    ) -> None:
        async def go() -> None:
            app = Host(pane)
            async with app.run_test(size=size, message_hook=app.got.append) as pilot:
                await pilot.pause()
                await play(app, pilot)

        asyncio.run(go())

    return run
