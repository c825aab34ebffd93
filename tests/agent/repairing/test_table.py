"""Patches that are handed in while a search goes on."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from deskagent.agent.repairing.table import Table
from deskagent.repair.budget import Budget, Limits
from deskagent.repair.search import Ended, Search
from deskagent.repair.slot import Closed
from deskagent.repair.types import Candidate, Status, Verdict


def candidate(key: str) -> Candidate:
    return Candidate((), "test", "a.py", 1, 0.5, key, key)


@pytest.fixture
def search():
    """A search whose tests like `good` alone, with a table beside it."""
    pool = ThreadPoolExecutor(2)
    known: dict[str, Future[Verdict]] = {}

    def make(stream: list[str], good: set[str]) -> tuple[Search, Table]:
        def submit(files: Mapping[str, bytes]) -> Future[Verdict]:
            key = files["a.py"].decode()
            if key not in known:
                known[key] = pool.submit(lambda: Verdict(Status.GREEN if key in good else Status.RED))
            return known[key]

        table = Table()
        made = Search(
            iter([candidate(k) for k in stream]),
            submit,
            lambda c: {"a.py": c.key.encode()},
            on_trial=table.tried,
            aside=table,
        )
        return made, table

    yield make
    pool.shutdown()


def whole() -> Budget:
    return Budget(Limits(seconds=60.0))


def test_what_is_handed_in_is_tried_though_the_stream_is_at_its_end(search) -> None:
    made, table = search(["a"], {"own"})
    table.sit()
    heard: list[Status] = []

    def talk() -> None:
        heard.append(table.lay(candidate("wrong")).result(30).status)
        heard.append(table.lay(candidate("own")).result(30).status)
        table.rise()

    thread = threading.Thread(target=talk)
    thread.start()
    assert made.run(whole(), whole()) is Ended.GREEN
    thread.join()
    assert heard == [Status.RED, Status.GREEN]
    assert [t.candidate.key for t in made.green] == ["own"] and made.tried == 3


def test_handed_in_again_it_is_told_and_counts_once(search) -> None:
    made, table = search(["a"], set())
    assert made.run(whole(), whole()) is Ended.EXHAUSTED
    told = table.lay(candidate("a"))
    assert made.run(whole(), whole()) is Ended.EXHAUSTED
    assert told.result(30).status is Status.RED and made.tried == 1


def test_alone_at_the_table_the_stream_is_left_where_it_is(search) -> None:
    made, table = search(["a", "b"], set())
    table.lay(candidate("own"))
    assert made.run(whole(), whole(), aside_alone=True) is Ended.EXHAUSTED
    assert made.seen == {"own"}


def test_a_limit_ends_the_waiting_and_closing_tells_who_waits(search) -> None:
    made, table = search([], set())
    table.sit()
    assert made.run(Budget(Limits(seconds=0.05)), whole()) is Ended.LIMIT
    left = table.lay(candidate("late"))
    table.close()
    assert not table.working
    for asked in (left, table.lay(candidate("later"))):
        with pytest.raises(Closed):
            asked.result(0)
