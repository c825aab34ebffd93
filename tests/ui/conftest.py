"""The app on a small project, with a provider that says what a test has it say."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from deskagent.agent.converse.work import Options
from deskagent.agent.permissions import Mode
from deskagent.providers.base import (
    Ask,
    CallDelta,
    Capabilities,
    Delta,
    ProviderError,
    Stop,
    Stopped,
    TextDelta,
    ThinkingDelta,
    Usage,
)
from tests.ui.desktop import copied, desktop, folder, start
from ui.app import DeskApp
from ui.log.items import Item
from ui.widgets import question

__all__ = ["copied", "desktop", "folder", "start"]
"""Fixtures of pictures."""

Line = Delta | ProviderError | Callable[[], Any]
PATIENCE = 60.0


@dataclass
class Scripted:
    """Answers in their order: deltas, errors that are raised, functions that are called, on a thread."""

    answers: list[Sequence[Line]]
    asked: list[Ask] = field(default_factory=list)
    name: str = "stand/in"
    capabilities: Capabilities = field(default_factory=lambda: Capabilities(context=1_000_000))

    async def stream(self, ask: Ask) -> AsyncGenerator[Delta, None]:
        self.asked.append(ask)
        for line in self.answers.pop(0) if self.answers else says("There is nothing more to say."):
            await asyncio.sleep(0)
            if isinstance(line, ProviderError):
                raise line
            if callable(line):
                await asyncio.to_thread(line)
            else:
                yield line

    async def close(self) -> None:
        return None


def thinks(text: str) -> Line:
    return ThinkingDelta(0, text)


def says(*texts: str, tokens: int = 40) -> list[Line]:
    return [
        *(TextDelta(1, text) for text in texts),
        Usage(prompt=4000, cached=3000, output=tokens, thinking=12),
        Stopped(Stop.END),
    ]


def calls(*wanted: tuple[str, str, str]) -> list[Line]:
    """An answer with calls: (id, name, arguments) each."""
    parts: list[Line] = [
        CallDelta(n, id, name, arguments) for n, (id, name, arguments) in enumerate(wanted, 1)
    ]
    return [*parts, Usage(prompt=4000, cached=3000, output=30), Stopped(Stop.CALLS)]


class Play:
    """The app under a Pilot, and waiting for what it is to show."""

    def __init__(self, app: DeskApp, pilot: Any) -> None:
        self.app, self.pilot = app, pilot

    async def until(self, what: Callable[[], Any], why: str = "") -> Any:
        """Waits until `what` gives something true, which it gives back."""
        end = time.monotonic() + PATIENCE
        while not (found := what()):
            if time.monotonic() > end:
                raise AssertionError(f"it never came: {why or what}\n{self.screen()}")
            await self.pilot.pause(0.02)
        return found

    async def opened(self) -> None:
        await self.until(lambda: self.app.session or self.app.error, "the session")
        await self.idle()

    async def idle(self) -> None:
        await self.until(lambda: not self.app.busy, "that nothing is being done")
        await self.pilot.pause()

    async def type(self, text: str) -> None:
        self.app.composer.insert(text)
        await self.pilot.pause()

    async def send(self, text: str) -> None:
        await self.type(text)
        await self.pilot.press("enter")

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    def items(self, kind: type[Item] = Item) -> list[Any]:
        return [item for item in self.app.fold.items if isinstance(item, kind)]

    def screen(self) -> str:
        """The text on the screen, line by line."""
        compositor = self.app.screen._compositor
        return "\n".join(
            "".join(segment.text for segment in strip).rstrip() for strip in compositor.render_strips()
        )

    async def shows(self, text: str) -> None:
        await self.until(lambda: text in self.screen(), f"{text!r} on the screen")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    return folder


@pytest.fixture
def play(project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """play(answers, steps, size=…): runs the app, and `steps` with it."""
    monkeypatch.chdir(project)
    monkeypatch.setenv("DESKAGENT_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(question, "PATIENCE", 0.0)

    def run(
        answers: Sequence[Sequence[Line]],
        steps: Callable[[Play], Any],
        *,
        size: tuple[int, int] = (120, 36),
        mode: Mode = Mode.ASK,
        able: Capabilities | None = None,
        **more: Any,
    ) -> Scripted:
        provider = Scripted(list(answers))
        provider.capabilities = able or provider.capabilities
        options = Options(
            start=project, argv=("deskagent",), model=lambda name: (provider, False), mode=mode, **more
        )

        async def go() -> None:
            app = DeskApp(lambda: options)
            async with app.run_test(size=size) as pilot:
                playing = Play(app, pilot)
                await playing.opened()
                await steps(playing)
            assert app.conversation is not None
            app.conversation.close()
            assert await asyncio.to_thread(app.conversation.join, PATIENCE)

        asyncio.run(go())
        return provider

    return run
