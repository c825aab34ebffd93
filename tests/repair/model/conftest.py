"""Judges that say what a test wants."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from deskagent.repair.model.judge import Asked, Gone, Opinion


class Scripted:
    """Says `opinion(after)` for each text; gone after `lives` questions."""

    def __init__(self, opinion: Callable[[str], float], lives: int = 1000) -> None:
        self.opinion, self.lives = opinion, lives
        self.asked: list[tuple[Asked, list[str]]] = []

    def warm(self) -> None:
        pass

    def opinions(self, asked: Asked, after: Sequence[str]) -> list[Opinion]:
        self.asked.append((asked, list(after)))
        if len(self.asked) > self.lives:
            raise Gone("The model answers no more: it was killed")
        return [Opinion(self.opinion(text), 4) for text in after]


@pytest.fixture
def scripted() -> type[Scripted]:
    return Scripted
