"""A journal with some notices, and what is read of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deskagent.session.events import (
    Notice,
)
from deskagent.session.journal import Journal


def _notices(journal: Journal, after: int = 0) -> list[str]:
    return [r.event.text for r in journal.read(after) if isinstance(r.event, Notice)]


@pytest.fixture
def notices() -> Callable[..., Any]:
    return _notices


def _numbers(journal: Journal, after: int = 0) -> list[int]:
    return [r.seq for r in journal.read(after)]


@pytest.fixture
def numbers() -> Callable[..., Any]:
    return _numbers


def _written(count: int, segment_bytes: int = 600) -> Journal:
    journal = Journal.create(Path("/work"), segment_bytes=segment_bytes)
    for index in range(count):
        journal.append(Notice("info", str(index), time=1.0))
    return journal


@pytest.fixture
def written() -> Callable[..., Any]:
    return _written
