"""Ctrl-C in the middle of an append, wherever it strikes: no number is given twice, nothing acknowledged is lost."""

from __future__ import annotations

import random
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from deskagent.session.events import Notice, StepStarted
from deskagent.session.journal import Journal


@pytest.fixture
def alarm() -> Iterator[None]:
    def strike(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, strike)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def test_interrupts_at_any_moment(home: Path, alarm: None) -> None:
    chance = random.Random(1)
    acknowledged: dict[int, str] = {}
    interrupted = 0
    journal = Journal.create(Path("/work"), segment_bytes=2000)
    for index in range(1500):
        text = str(index)
        event = Notice("info", text) if index % 3 else StepStarted(text, "plan", "low")
        seq = 0
        try:
            signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-6, 150e-6))
            seq = journal.append(event)
            signal.setitimer(signal.ITIMER_REAL, 0)
        except KeyboardInterrupt:
            interrupted += 1
        if seq:
            acknowledged[seq] = text
    for write in (False, True):
        if write:
            journal.close()
        with Journal.open(journal.id, write=write) as again:
            found = {
                r.seq: getattr(r.event, "text", None) or getattr(r.event, "id", "") for r in again.read()
            }
            assert {seq: found.get(seq) for seq in acknowledged} == acknowledged
            assert {w.kind for w in again.warnings} <= {"gap", "torn"}
    assert interrupted > 50 and len(acknowledged) > 50
