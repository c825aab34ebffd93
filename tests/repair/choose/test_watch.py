"""Real patches, real workers: what is seen of them, and that nothing of it does harm."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from deskagent.repair.choose import Behaviour, separate, watch
from deskagent.repair.command import TestCommand
from deskagent.repair.search import Trial
from deskagent.repair.types import Baseline, Candidate, Edit, Status, Verdict
from deskagent.repair.verify import Verifier
from deskagent.terminal.sandbox import Sandbox, Unconfined, find_sandbox
from deskagent.terminal.types import Rung

SOURCE = """\
import asyncio
import functools
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

LOCK = threading.Lock()
LIMITS = {"low": 0}


def is_overdrawn(opening, bookings):
    return opening + sum(bookings) <= 0


@functools.lru_cache
def cached(n):
    return n <= 0


def counting(n):
    for i in range(n):
        if i <= 0:
            yield i


async def later(n):
    await asyncio.sleep(0)
    return n <= 0


class Box:
    def __init__(self, items):
        self.items = items
        self.lock = threading.Lock()

    def take(self, n):
        if n <= 0:
            return None
        return self.items.pop()


def outer(values):
    def inner(value):
        return value <= 0

    return [inner(value) for value in values]


def harm(text):
    if text == "fine":
        return 1 <= 0
    try:
        os.kill(os.getppid(), signal.SIGKILL)
    except BaseException:
        pass
    try:
        subprocess.run(["touch", "by-process"])
    except BaseException:
        pass
    Path("written").write_text(text)
    return 2


def slow(n):
    while n not in (1, 2):
        pass
    return n <= 0


def sleepy(n):
    time.sleep(30 if n not in (1, 2) else 0)
    return n <= 0


def below(n):
    return n <= LIMITS["low"]


def unsteady(n):
    return (n <= 0, time.perf_counter_ns())
"""
TESTS = """\
import asyncio

import account


def test_zero():
    assert not account.is_overdrawn(0, [])


def test_below():
    assert account.is_overdrawn(5, [-6])


def test_others():
    assert account.cached(-1)
    assert list(account.counting(2)) is not None
    assert asyncio.run(account.later(-1))
    box = account.Box([1, 2])
    assert box.take(2) == 2
    assert account.outer([-1, 5]) == [True, False]
    assert account.below(-1)
    assert account.unsteady(-1)[0]


def test_harm():
    assert account.harm("fine") is False


def test_slow():
    assert not account.slow(1)
    assert not account.slow(2)
    assert not account.sleepy(1)
"""
FUNCTIONS = {
    "cached": "    return n <= 0\n\n\ndef counting",
    "counting": "        if i <= 0:",
    "later": "    return n <= 0\n\n\nclass",
    "take": "        if n <= 0:",
    "outer": "        return value <= 0",
    "harm": "        return 1 <= 0",
    "slow": "    return n <= 0\n\n\ndef sleepy",
    "sleepy": "    return n <= 0\n\n\ndef below",
    "below": '"low": 0',
    "unsteady": "(n <= 0,",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("account")
    (folder / "account.py").write_text(SOURCE)
    (folder / "test_account.py").write_text(TESTS)
    return folder


def started(project: Path, sandbox: Sandbox) -> Verifier:
    argv = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    command = TestCommand(" ".join(argv), argv, "pytest", Path(sys.executable), argv[3:], as_module=True)
    return Verifier(project, command, sandbox=sandbox, slots=1)


@dataclass(frozen=True)
class Bench:
    verifier: Verifier
    baseline: Baseline

    def watch(self, *green: Trial, seconds: float = 600.0) -> Behaviour:
        return watch(
            self.verifier,
            self.baseline,
            lambda path: (self.verifier.project / path).read_bytes(),
            green,
            seconds=seconds,
        )


@pytest.fixture(scope="module")
def bench(project: Path) -> Iterator[Bench]:
    sandbox = find_sandbox()
    if sandbox.rung is Rung.NONE:
        pytest.skip("no sandbox here: nothing is made up outside one")
    with started(project, sandbox) as verifier:
        yield Bench(verifier, verifier.baseline())


def trial(number: int, old: str, new: str) -> Trial:
    start = SOURCE.index(old)
    edit = Edit("account.py", start, start + len(old), new)
    after = SOURCE[:start] + new + SOURCE[edit.end :]
    candidate = Candidate(
        (edit,), "compare", "account.py", SOURCE[:start].count("\n") + 1, 0.3, new, str(number)
    )
    return Trial(number, candidate, {"account.py": after.encode()}, Verdict(Status.GREEN))


def everywhere(number: int, names: Sequence[str], new: str) -> Trial:
    """A trial that edits all of the functions `names`."""
    after = SOURCE
    for name in names:
        after = after.replace(FUNCTIONS[name], FUNCTIONS[name].replace("<= 0", new))
    plain = trial(number, FUNCTIONS["cached"], FUNCTIONS["cached"])
    return replace(plain, files={"account.py": after.encode()})


def test_two_patches_that_pass_are_told_apart_by_an_input(bench: Bench) -> None:
    line = "    return opening + sum(bookings) <= 0"
    right, wrong = trial(1, line, line.replace("<=", "<")), trial(2, line, line.replace("<= 0", "<= -1"))
    same = trial(3, line, "    return 0 > opening + sum(bookings)")
    seen = bench.watch(right, wrong, same)
    assert separate(right, same, seen) is None
    found = separate(right, wrong, seen)
    assert found is not None
    assert (found.best, found.rival, found.unedited) == ("True", "False", "True")
    assert found.made_up
    assert {target.name for target in seen.entries} == {"is_overdrawn"}


def test_every_kind_of_function_is_called_again(bench: Bench) -> None:
    kinds = ("cached", "counting", "later", "take", "outer")
    one, two = (everywhere(number, kinds, new) for number, new in ((1, "< 0"), (2, "<= 1")))
    seen = bench.watch(one, two)
    assert sorted(seen.observed) == [0, 1, 2]
    assert {target.name for target in seen.edited} >= {"cached", "counting", "later", "Box.take", "outer"}
    called = {key[0].name for key, t in seen.observed[0].items() if not t.new and t.kind == "returns"}
    assert called >= {"cached", "counting", "later", "Box.take", "outer"}
    differing = {
        key[0].name for key in seen.shared([1, 2]) if len({seen.observed[n][key].effect for n in (1, 2)}) > 1
    }
    assert differing == {"cached", "counting", "later", "outer"}  # a box has a lock, which can't be copied


def test_data_of_the_module_is_tried_through_the_functions_that_read_it(bench: Bench) -> None:
    one, two = trial(1, FUNCTIONS["below"], '"low": -1'), trial(2, FUNCTIONS["below"], '"low": 1')
    found = separate(one, two, bench.watch(one, two))
    assert found is not None
    assert found.call.startswith("below(")


def test_a_repeated_call_does_no_harm(bench: Bench) -> None:
    old = FUNCTIONS["harm"]
    seen = bench.watch(trial(1, old, "        return 1 < 0"), trial(2, old, "        return 1 < 1"))
    kinds = {t.kind for t in seen.observed[1].values() if t.new}
    assert kinds == {"refused"}
    assert [t.out for t in seen.observed[1].values() if not t.new] == ["False"]
    assert sorted(path.name for path in bench.verifier.project.iterdir()) == ["account.py", "test_account.py"]
    again = bench.watch(trial(3, old, "        return 1 < 0"))  # the worker lives, the copy is clean
    assert sorted(again.observed) == [0, 3]


def test_calls_that_hang_are_told_and_those_that_sleep_are_not_waited_for(bench: Bench) -> None:
    hanging = bench.watch(trial(1, FUNCTIONS["slow"], FUNCTIONS["slow"].replace("<= 0", "< 0")))
    assert {t.kind for t in hanging.observed[1].values()} == {"returns", "hangs"}
    sleeping = bench.watch(trial(1, FUNCTIONS["sleepy"], FUNCTIONS["sleepy"].replace("<= 0", "< 0")))
    assert {t.kind for t in sleeping.observed[1].values()} == {"returns"}


def test_what_changes_from_run_to_run_is_left_out(bench: Bench) -> None:
    seen = bench.watch(
        trial(1, FUNCTIONS["unsteady"], "(n < 0,"), trial(2, FUNCTIONS["unsteady"], "(n <= -1,")
    )
    assert 0 in seen.observed
    assert not [key for key in seen.shared([0, 1, 2]) if key[0].name == "unsteady"]


def test_outside_a_sandbox_only_the_inputs_of_tests_are_used(project: Path) -> None:
    line = "    return opening + sum(bookings) <= 0"
    with started(project, Unconfined()) as verifier:
        outside = Bench(verifier, verifier.baseline())
        seen = outside.watch(
            trial(1, line, line.replace("<=", "<")), trial(2, line, line.replace("<=", "<<"))
        )
    assert seen.observed[1]
    assert not any(t.new for t in seen.observed[1].values())


def test_no_time_no_worker_nothing_to_watch(bench: Bench) -> None:
    line = "    return opening + sum(bookings) <= 0"
    one = trial(1, line, line.replace("<=", "<"))
    assert bench.watch(one, seconds=0.0).observed == {}
    assert bench.watch().observed == {}
