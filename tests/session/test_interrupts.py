"""Ctrl-C in the middle of an append, wherever it strikes: no number is given twice, nothing acknowledged is lost."""

from __future__ import annotations

import random
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from deskagent.session.events import Notice, StepStarted
from deskagent.session.journal import Journal


class Alarm:
    """An interrupt at a chosen moment, which may strike only between `set` and `off`, and once.

    The kernel may hand the signal to another thread (pytest-xdist has some), so that Python runs the handler after
    the timer was taken back: a late one is swallowed, or it would end the test's process.
    """

    def __init__(self) -> None:
        self.armed = False

    def strike(self, *_: object) -> None:
        if self.armed:
            self.armed = False
            raise KeyboardInterrupt

    def set(self, seconds: float) -> None:
        self.armed = True
        signal.setitimer(signal.ITIMER_REAL, seconds)

    def off(self) -> None:
        self.armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)


@pytest.fixture
def alarm() -> Iterator[Alarm]:
    alarm = Alarm()
    before = signal.signal(signal.SIGALRM, alarm.strike)
    yield alarm
    alarm.off()
    signal.signal(signal.SIGALRM, before)


def test_interrupts_at_any_moment(home: Path, alarm: Alarm) -> None:
    chance = random.Random(1)
    acknowledged: dict[int, str] = {}
    interrupted = 0
    longest = 150e-6  # seconds; kept where about every other append is hit, on any machine
    journal = Journal.create(Path("/work"), segment_bytes=2000)
    for index in range(1500):
        text = str(index)
        event = Notice("info", text) if index % 3 else StepStarted(text, "plan", "low")
        seq = 0
        try:
            alarm.set(chance.uniform(1e-6, longest))
            seq = journal.append(event)
            alarm.off()
        except KeyboardInterrupt:
            interrupted += 1
            longest *= 1.05
        else:
            longest = max(5e-6, longest / 1.05)
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
