from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deskagent.repair.report import parse
from deskagent.repair.types import Frame

PYTEST = """\
import pytest

def helper(x):
    raise ValueError(f"odd {x}")

def test_ok(): pass

@pytest.mark.parametrize("v", ["a - b", "c::d] - e"])
def test_param(v):
    assert v == "x"

class TestA:
    def test_deep(self):
        helper(3)

@pytest.fixture
def broken(): raise OSError("no")

def test_setup(broken): pass

def test_skip(): pytest.skip("why")
"""
UNITTEST = """\
import unittest

class T(unittest.TestCase):
    def test_ok(self): pass
    def test_bad(self): self.assertEqual(1, 2)
    def test_err(self): raise KeyError("x")
    @unittest.skip("no")
    def test_skip(self): pass

class S(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise OSError("no")
    def test_a(self): pass
"""


def printed(folder: Path, *argv: str) -> str:
    env = os.environ | {
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_ADDOPTS": "",
    }
    done = subprocess.run([sys.executable, *argv], cwd=folder, env=env, capture_output=True, text=True)
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    "options", [(), ("-q",), ("-v", "--color=yes"), ("-rA", "--tb=short"), ("-q", "--tb=native")]
)
def test_pytest_in_its_usual_dresses(tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "test_it.py").write_text(PYTEST)
    found = parse(printed(tmp_path, "-m", "pytest", *options), tmp_path)
    failing = {r.id: r for r in found.failing}
    assert set(failing) == {
        "test_it.py::test_param[a - b]",
        "test_it.py::test_param[c::d] - e]",
        "test_it.py::TestA::test_deep",
        "test_it.py::test_setup",
    }
    assert (found.passed, found.failed) == (1, 4)
    deep = failing["test_it.py::TestA::test_deep"]
    assert "odd 3" in deep.message
    assert [(f.path, f.line) for f in deep.frames] == [("test_it.py", 14), ("test_it.py", 4)]
    assert deep.frames[-1].function == "helper"
    if "-v" in options or "-rA" in options:
        assert "test_it.py::test_ok" in {r.id for r in found.results}


def test_pytest_that_could_not_collect(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("import nothing_of_this_name\n")
    found = parse(printed(tmp_path, "-m", "pytest", "-q"), tmp_path)
    assert [(r.id, r.outcome.value) for r in found.results] == [("test_it.py", "error")]
    assert "No module named" in found.results[0].message
    assert Frame("test_it.py", 1, "<module>") in found.results[0].frames


def test_pytest_whose_conftest_fails(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("1 / 0\n")
    found = parse(printed(tmp_path, "-m", "pytest", "-q"), tmp_path)
    assert [r.id for r in found.failing] == [""]
    assert "ZeroDivisionError" in found.failing[0].message


@pytest.mark.parametrize("options", [(), ("-v",)])
def test_unittest(tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "test_it.py").write_text(UNITTEST)
    (tmp_path / "test_gone.py").write_text("import nothing_of_this_name\n")
    found = parse(printed(tmp_path, "-m", "unittest", *options), tmp_path)
    failing = {r.id: r for r in found.failing}
    assert {name: r.outcome.value for name, r in failing.items()} == {
        "test_it.T.test_bad": "failed",
        "test_it.T.test_err": "error",
        "test_it.S": "error",
        "test_gone": "error",
    }
    assert "1 != 2" in failing["test_it.T.test_bad"].message
    assert failing["test_it.T.test_err"].frames[-1] == Frame("test_it.py", 6, "test_err")
    assert found.failed == 4
    if options:
        assert "test_it.T.test_ok" in {r.id for r in found.results}


@settings(deadline=None, max_examples=50)
@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    assert parse(text, Path("/x")).failing == () or "E" in text or "F" in text


def test_a_long_line_does_not_take_long() -> None:
    assert parse("=" * 200_000 + "\n" + "_" * 200_000 + "\n" + "9 " * 100_000, Path("/x")).results == ()
