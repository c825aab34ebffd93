from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from deskagent.repair import search as search_module
from deskagent.repair.budget import Budget, Limits
from deskagent.repair.search import Ended, Search
from deskagent.repair.types import Candidate, Status, Verdict


def candidate(key: str, line: int = 1) -> Candidate:
    return Candidate((), "test", "a.py", line, 0.5, key, key)


class Bench:
    """Stands in for the tests: candidates whose key is in `good` are green."""

    def __init__(self, good: set[str], seconds: float = 0.0, together: int = 1) -> None:
        self.good, self.seconds = good, seconds
        self.meeting = threading.Barrier(together, timeout=60)
        self.pool = ThreadPoolExecutor(4)
        self.running = self.most = 0
        self.lock = threading.Lock()
        self.seen: list[str] = []

    def submit(self, files: Mapping[str, bytes]) -> Future[Verdict]:
        return self.pool.submit(self._test, files["a.py"].decode())

    def _test(self, key: str) -> Verdict:
        with self.lock:
            self.seen.append(key)
            self.running += 1
            self.most = max(self.most, self.running)
        time.sleep(self.seconds)
        self.meeting.wait()
        with self.lock:
            self.running -= 1
        return Verdict(Status.GREEN if key in self.good else Status.RED)

    def search(self, stream: list[Candidate], slots: int = 2) -> Search:
        return Search(iter(stream), self.submit, lambda c: {"a.py": c.key.encode()}, slots)


def everything() -> Budget:
    return Budget(Limits())


def test_the_stream_is_gone_through_once_and_none_is_tried_twice() -> None:
    bench = Bench(set())
    search = bench.search([candidate(k) for k in "abcabca"])
    assert search.run(everything(), everything()) is Ended.EXHAUSTED
    assert sorted(bench.seen) == ["a", "b", "c"]
    assert search.tried == 3


def test_a_second_run_goes_on_where_the_first_stopped() -> None:
    bench = Bench({"e"})
    search = bench.search([candidate(k) for k in "abcdef"])
    whole = everything()
    assert search.run(whole.part(Limits(candidates=3)), whole) is Ended.LIMIT
    assert sorted(bench.seen) == ["a", "b", "c"]
    assert search.run(whole.part(Limits(candidates=3)), whole) is Ended.GREEN
    assert [t.candidate.key for t in search.green] == ["e"]


def test_rivals_of_the_same_place_come_next() -> None:
    bench = Bench({"a", "z"})
    stream = [candidate("a", 5), *(candidate(f"far{i}", 9) for i in range(8)), candidate("z", 5)]
    search = bench.search(stream, slots=1)
    assert search.run(everything(), everything()) is Ended.GREEN
    assert bench.seen[:2] == ["a", "z"]
    assert [t.candidate.key for t in search.green] == ["a", "z"]


def test_rivals_elsewhere_take_turns_with_those_of_the_same_place() -> None:
    """The first green patch may be wrong and its rival at quite another place."""
    bench = Bench({"a", "z"})
    near = [candidate(f"near{i}", 5) for i in range(8)]
    stream = [candidate("a", 5), candidate("z", 9), *near]
    search = bench.search(stream, slots=1)
    assert search.run(everything(), everything()) is Ended.GREEN
    assert set(bench.seen[:3]) == {"a", "z", "near0"}


def test_a_patch_that_is_alone_is_given_longer_until_another_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_module, "_RIVALS", (0.0, 0.1, 0.1))
    monkeypatch.setattr(search_module, "_ALONE", (0.0, 60.0, 60.0))
    bench = Bench({"a", "y", "z"}, seconds=0.05)
    stream = [candidate("a"), *(candidate(str(n)) for n in range(12)), candidate("y"), candidate("z")]
    search = bench.search([*stream, *(candidate(f"later{n}") for n in range(40))], slots=1)
    assert search.run(everything(), everything()) is Ended.GREEN
    assert [t.candidate.key for t in search.green][:2] == ["a", "y"]
    assert not any(key == "later9" for key in bench.seen)
    monkeypatch.setattr(search_module, "_ALONE", (0.0, 0.1, 0.1))
    bench = Bench({"a", "y"}, seconds=0.05)
    short = bench.search(stream, slots=1)
    assert short.run(everything(), everything()) is Ended.GREEN
    assert [t.candidate.key for t in short.green] == ["a"]


def test_no_more_than_the_slots_run_at_a_time() -> None:
    bench = Bench(set(), seconds=0.01, together=2)
    bench.search([candidate(str(i)) for i in range(20)], slots=2).run(everything(), everything())
    assert bench.most == 2


@pytest.mark.parametrize("limits", [Limits(candidates=0), Limits(seconds=0.0)])
def test_an_empty_budget_tries_nothing(limits: Limits) -> None:
    bench = Bench({"a"})
    whole = Budget(limits)
    assert bench.search([candidate("a")]).run(whole, whole) is Ended.LIMIT
    assert bench.seen == []


def test_the_whole_budget_bounds_the_search_for_rivals() -> None:
    bench = Bench({"0"})
    whole = Budget(Limits(candidates=5))
    search = bench.search([candidate(str(i)) for i in range(50)])
    assert search.run(whole.part(Limits()), whole) is Ended.GREEN
    assert search.tried == 5
