"""Tests that pass by chance, for real: nothing they let through is taken for a repair."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from deskagent.repair.command import TestCommand
from deskagent.repair.steady import Steady, controls
from deskagent.repair.types import Outcome, Status, TestResult
from deskagent.repair.verify import Verifier
from deskagent.terminal.sandbox import Unconfined

SHOP = "def price(n):\n    return n + 1\n"
STEADY = "from shop import price\n\n\ndef test_price():\n    assert price(1) == {}\n"
EVERY = """

def test_now_and_then():
    path = {path!r}
    with open(path, "a") as file:
        file.write("x")
    assert len(open(path).read()) % {every} {sign} 0
"""
PYTHON = Path(sys.executable)


@pytest.fixture
def verifier_of(tmp_path: Path) -> Iterator:
    with ExitStack() as stack:

        def make(tests: str, *, warm: bool = True) -> Verifier:
            folder = tmp_path / "project"
            folder.mkdir()
            (folder / "shop.py").write_text(SHOP)
            (folder / "test_shop.py").write_text(tests)
            argv = (str(PYTHON), "-m", "pytest", "-q", "-p", "no:cacheprovider")
            env = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
            command = (
                TestCommand("pytest", argv, "pytest", PYTHON, argv[3:], env, as_module=True)
                if warm
                else TestCommand("sh", ("sh", "-c", " ".join(argv)), "command", env=env)
            )
            return stack.enter_context(Verifier(folder, command, sandbox=Unconfined(), slots=1))

        yield make


def test_a_failing_test_that_passes_now_and_then_is_no_proof(verifier_of, tmp_path: Path) -> None:
    verifier = verifier_of(EVERY.format(path=str(tmp_path / "count"), every=3, sign="=="))
    assert verifier.baseline().failing
    assert verifier.steady.passed.keys() == {"test_shop.py::test_now_and_then"}
    assert not verifier.flaky and verifier.steady.again >= 8
    text = " ".join(verifier.steady.notices())
    assert "test_now_and_then is flaky" in text and f"{verifier.steady.again + 1} times in a row" in text
    verdicts = [verifier.submit({"shop.py": f"{SHOP}# {n}\n".encode()}).result(120) for n in range(6)]
    assert all(verdict.status is Status.RED for verdict in verdicts)
    assert any(verdict.stage != "failing" for verdict in verdicts)  # it did pass once
    steady = (tmp_path / "project" / "test_shop.py").read_text() + "\n\ndef test_never(): assert 0\n"
    assert verifier.submit({"test_shop.py": steady.encode()}).result(120).status is Status.RED


def test_beside_a_steady_failure_a_flaky_one_does_not_count(verifier_of, tmp_path: Path) -> None:
    verifier = verifier_of(STEADY.format(3) + EVERY.format(path=str(tmp_path / "count"), every=2, sign="=="))
    verifier.baseline()
    assert verifier.flaky == {"test_shop.py::test_now_and_then"}
    assert (
        verifier.submit({"shop.py": SHOP.replace("+ 1", "+ 2").encode()}).result(120).status is Status.GREEN
    )
    assert verifier.submit({"shop.py": SHOP.replace("+ 1", "+ 3").encode()}).result(120).status is Status.RED
    assert any("do not count" in text for text in verifier.steady.notices())


def test_a_passing_test_that_fails_now_and_then_does_not_reject_the_right_patch(
    verifier_of, tmp_path: Path
) -> None:
    verifier = verifier_of(STEADY.format(3) + EVERY.format(path=str(tmp_path / "count"), every=5, sign="!="))
    baseline = verifier.baseline()
    right = [
        verifier.submit({"shop.py": SHOP.replace("+ 1", "+ 2").encode() + b"# %d\n" % n}).result(120)
        for n in range(6)
    ]
    assert {verdict.status for verdict in right} == {Status.GREEN}
    if any(r.id.endswith("now_and_then") for r in baseline.passing):
        assert verifier.flaky == {"test_shop.py::test_now_and_then"}
        assert any("failed later with nothing changed" in text for text in verifier.steady.notices())


def test_what_an_edit_itself_breaks_is_still_a_break(verifier_of) -> None:
    verifier = verifier_of(STEADY.format(3) + "\n\ndef test_zero():\n    assert price(0) >= 1\n")
    verifier.baseline()
    assert verifier.submit({"shop.py": b"def price(n):\n    return 3 * n\n"}).result(120).status is Status.RED
    assert not verifier.flaky and not verifier.steady.failed
    assert (
        verifier.submit({"shop.py": b"def price(n):\n    return n + 2\n"}).result(120).status is Status.GREEN
    )
    assert not verifier.steady.notices()


def test_without_a_worker_too(verifier_of, tmp_path: Path) -> None:
    verifier = verifier_of(EVERY.format(path=str(tmp_path / "count"), every=2, sign="=="), warm=False)
    assert verifier.baseline().failing and not verifier.warm
    assert verifier.steady.passed and verifier.steady.again >= 8
    verdicts = [verifier.submit({"shop.py": f"{SHOP}# {n}\n".encode()}).result(120) for n in range(2)]
    assert all(verdict.status is Status.RED for verdict in verdicts)


def test_a_probe_runs_the_failing_tests_alone_on_another_tree(verifier_of) -> None:
    verifier = verifier_of(STEADY.format(3) + "\n\ndef test_two():\n    assert price(1) == 2\n")
    verifier.baseline()
    assert (
        verifier.probe({"shop.py": b"def price(n):\n    return n + 2\n"}).result(120).status is Status.GREEN
    )
    assert verifier.probe({"shop.py": None}).result(120).status is Status.BROKEN
    assert verifier.probe({"../shop.py": b""}).result(120).status is Status.BROKEN
    assert verifier.probe({"new/deep.py": b"X = 1\n"}).result(120).status is Status.RED
    assert verifier.submit({"shop.py": SHOP.encode() + b"#"}).result(120).status is Status.RED


def test_how_often_follows_from_how_likely_luck_is() -> None:
    rare, even, often = Steady(), Steady(), Steady()
    assert rare.controlled(["a"], [{"a": True}, {"a": False}, {"a": False}]) == frozenset()
    even.controlled(["a"], [{"a": True}, {"a": True}, {"a": False}])
    often.controlled(["a"], [{"a": True}] * 3)
    assert 8 <= rare.again < even.again < often.again <= 30
    calm = Steady()
    assert calm.controlled(["a", "b"], [{"a": False, "b": True}]) == {"b"} and calm.again == Steady().again


@pytest.mark.parametrize(
    ("seconds", "warm", "doubted", "count"),
    [
        *((1.0, True, False, 3), (1.0, False, False, 2), (2.5, False, False, 1), (30.0, False, False, 0)),
        *((1.0, False, True, 4), (2.5, False, True, 3), (9.0, False, True, 2), (30.0, False, True, 1)),
    ],
)
def test_what_the_warm_worker_saw_pass_is_looked_at_more_often(seconds, warm, doubted, count) -> None:
    failing = [TestResult("t", Outcome.FAILED, 0.1)]
    assert controls(failing, seconds, warm, doubted) == count
