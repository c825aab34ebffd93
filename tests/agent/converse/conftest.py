"""A provider that says what a test has it say, and a conversation over real sessions and tools."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field

import pytest

from deskagent.providers.base import (
    Ask,
    CallDelta,
    Capabilities,
    Delta,
    ProviderError,
    Stop,
    Stopped,
    TextDelta,
    Usage,
)

Line = Delta | ProviderError | Callable[[], None]


@dataclass
class Scripted:
    """Answers in their order: deltas, errors that are raised, functions that are called. Each ask is kept."""

    answers: list[Sequence[Line]]
    asked: list[Ask] = field(default_factory=list)
    name: str = "stand/in"
    capabilities: Capabilities = field(default_factory=lambda: Capabilities(context=100_000))

    async def stream(self, ask: Ask) -> AsyncGenerator[Delta, None]:
        self.asked.append(ask)
        for line in self.answers.pop(0):
            await asyncio.sleep(0)
            if isinstance(line, ProviderError):
                raise line
            if callable(line):
                line()
            else:
                yield line

    async def close(self) -> None:
        return None


def says(text: str, *, prompt: int = 10) -> list[Line]:
    return [TextDelta(0, text), Usage(prompt=prompt, output=5), Stopped(Stop.END)]


def calls(*wanted: tuple[str, str, str]) -> list[Line]:
    """An answer with calls: (id, name, arguments) each."""
    parts: list[Line] = [CallDelta(n, id, name, arguments) for n, (id, name, arguments) in enumerate(wanted)]
    return [*parts, Usage(prompt=10, output=5), Stopped(Stop.CALLS)]


@pytest.fixture
def scripted() -> type[Scripted]:
    return Scripted


@pytest.fixture
def script() -> tuple[Callable[..., list[Line]], Callable[..., list[Line]]]:
    """(says, calls)"""
    return says, calls
