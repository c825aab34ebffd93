"""Limits hold where something hangs: a candidate, a conftest, the exact command after its last test."""

from __future__ import annotations

import sys
import time
from concurrent.futures import Future
from pathlib import Path

import pytest

from deskagent.repair import search as search_module
from deskagent.repair.budget import Budget, Limits
from deskagent.repair.command import TestCommand
from deskagent.repair.search import Ended, Search
from deskagent.repair.types import Candidate, Outcome, Verdict
from deskagent.repair.verify import Verifier
from deskagent.terminal.sandbox import Unconfined

HANGS = 600
BEARABLE = 60.0  # seconds: far more than any of these may take, far less than what hangs


def candidate(key: str) -> Candidate:
    return Candidate((), "test", "a.py", 1, 0.5, key, key)


def search_in_vain() -> Search:
    """A search none of whose candidates comes to an end."""
    futures: list[Future[Verdict]] = []

    def submit(files) -> Future[Verdict]:
        futures.append(Future())
        futures[-1].set_running_or_notify_cancel()
        return futures[-1]

    return Search(iter([candidate("a"), candidate("b")]), submit, lambda c: {"a.py": b""})


def test_a_search_waits_no_longer_than_the_whole_may_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_module, "_DRAIN", HANGS)
    whole = Budget(Limits(seconds=0.3))
    assert search_in_vain().run(whole.part(Limits(seconds=0.2)), whole) is Ended.LIMIT
    assert whole.elapsed < BEARABLE


def test_patches_of_an_earlier_run_are_checked_for_so_long() -> None:
    search = search_in_vain()
    began = time.monotonic()
    search.check_again([candidate("c")], 0.2)
    assert time.monotonic() - began < BEARABLE
    assert not search.green and search.tried == 1


def look(folder: Path, seconds: float) -> tuple[Verifier, list[Outcome]]:
    argv = (sys.executable, "-m", "pytest", "-q")
    env = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = TestCommand(" ".join(argv), argv, "pytest", Path(sys.executable), ("-q",), env, as_module=True)
    with Verifier(folder, command, sandbox=Unconfined(), slots=1) as verifier:
        began = time.monotonic()
        found = verifier.baseline(seconds=seconds)
        assert time.monotonic() - began < BEARABLE
        return verifier, [result.outcome for result in found.results]


def test_a_worker_that_does_not_get_ready(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(f"import time\n\ntime.sleep({HANGS})\n")
    (tmp_path / "test_it.py").write_text("def test_it():\n    pass\n")
    verifier, outcomes = look(tmp_path, 2.0)
    assert not verifier.warm and "no longer answers" in verifier.reason
    assert outcomes == [Outcome.TIMEOUT]


def test_an_exact_command_that_hangs_after_its_last_test(tmp_path: Path) -> None:
    text = (
        f"import atexit\nimport time\n\natexit.register(time.sleep, {HANGS})\n\n\ndef test_it():\n    pass\n"
    )
    (tmp_path / "test_it.py").write_text(text)
    look(tmp_path, 4.0)
