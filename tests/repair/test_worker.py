from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from deskagent.repair.command import TestCommand
from deskagent.repair.types import Status
from deskagent.repair.verify import Verifier
from deskagent.terminal.sandbox import Unconfined

VERSIONS = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14")
SOURCE = """\
def mean(values):
    total = 0
    for value in values:
        total += value
    return total // len(values)


def count(n):
    for i in range(n):
        yield i


class Basket:
    def __init__(self, items):
        self.items = [item for item in items if item]
"""
FIXED = SOURCE.replace("//", "/")
TESTS = """\
import threading
import unittest

from stats import Basket, count, mean


class TestMean(unittest.TestCase):
    def test_half(self):
        self.assertEqual(mean([1, 2]), 1.5)

    def test_whole(self):
        self.assertEqual(mean([2, 2]), 2)

    def test_subtests(self):
        for values, wanted in (([2], 2), ([1, 2], 1.5)):
            with self.subTest(values=values):
                self.assertEqual(mean(values), wanted)


class TestOther(unittest.TestCase):
    def test_thread(self):
        seen = []
        thread = threading.Thread(target=lambda: seen.extend(count(2)))
        thread.start()
        thread.join()
        self.assertEqual(seen, [0, 1])

    def test_long(self):
        self.assertEqual(len(list(count(30000))), 30000)

    def test_basket(self):
        self.assertEqual(Basket([0, 1]).items, [1])

    @unittest.skip("never")
    def test_skipped(self):
        pass

    @unittest.expectedFailure
    def test_expected(self):
        self.assertEqual(mean([1, 2]), 1.25)


class TestBroken(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.half = {0.5: "half"}[mean([0, 1])]

    def test_half(self):
        self.assertEqual(self.half, "half")
"""


def interpreter(version: str) -> Path | None:
    """A Python of that version on this machine, found on the PATH or among pyenv's."""
    places = [Path(found) for found in [shutil.which(f"python{version}")] if found]
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    places += sorted(root.glob(f"versions/{version}.*/bin/python"))
    for place in places:
        check = [str(place), "-c", "import sys, unittest; print('%d.%d' % sys.version_info[:2])"]
        done = subprocess.run(check, capture_output=True, text=True)
        if done.stdout.strip() == version:
            return place
    return None


@pytest.fixture(params=VERSIONS)
def verifier(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Verifier]:
    python = interpreter(request.param)
    if python is None:
        pytest.skip(f"no Python {request.param} here")
    project = tmp_path / "project"
    (project / "tests").mkdir(parents=True)
    (project / "stats.py").write_text(SOURCE)
    (project / "tests" / "__init__.py").write_text("")
    (project / "tests" / "test_stats.py").write_text(TESTS)
    argv = (str(python), "-m", "unittest")
    with Verifier(
        project,
        TestCommand(" ".join(argv), argv, "unittest", python, as_module=True),
        sandbox=Unconfined(),
        slots=1,
    ) as v:
        yield v


def test_unittest_on_every_python(verifier: Verifier) -> None:
    baseline = verifier.baseline()
    assert verifier.warm, verifier.reason
    found = {r.id.removeprefix("tests.test_stats."): r.outcome.value for r in baseline.results}
    assert found == {
        "TestMean.test_half": "failed",
        "TestMean.test_whole": "passed",
        "TestMean.test_subtests": "failed",
        "TestOther.test_thread": "passed",
        "TestOther.test_long": "passed",
        "TestOther.test_basket": "passed",
        "TestOther.test_skipped": "skipped",
        "TestOther.test_expected": "skipped",
        "TestBroken": "error",
    }
    cover = {name.rpartition(".")[2]: files["stats.py"] for name, files in baseline.coverage.items() if name}
    assert cover["test_half"] == {2, 3, 4, 5}
    assert {9, 10} <= cover["test_thread"] <= {9, 10}
    assert {9, 10} <= cover["test_long"] <= {9, 10}
    assert cover["test_basket"] == {15}
    assert {1, 8, 13, 14} <= baseline.coverage[""]["stats.py"]
    assert "1 != 1.5" in next(r for r in baseline.results if r.id.endswith("test_half")).message

    def status(text: str) -> Status:
        return verifier.submit({"stats.py": text.encode()}).result(120).status

    assert status(FIXED) is Status.GREEN
    assert status(SOURCE.replace("//", "%")) is Status.RED
    assert status(FIXED.replace("yield i", "yield 0")) is Status.RED
    assert status(SOURCE.replace("//", "/(")) is Status.BROKEN
    assert status(SOURCE.replace("total = 0", "while True: pass")) is Status.TIMEOUT
