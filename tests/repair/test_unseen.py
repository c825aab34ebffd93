"""Places that no test runs and an error speaks of."""

from pathlib import Path

import pytest

from deskagent.repair.localize import localize
from deskagent.repair.types import Baseline, Frame, Outcome, TestResult

CODE = """from .other import far


class Box:
    def __init__(self):
        self.items = []

    def size(self):
        return len(self.items)


class Crate:
    pass
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text(CODE)
    (tmp_path / "pkg" / "other.py").write_text("def far():\n    return 1\n")
    return tmp_path


def suspected(project: Path, message: str) -> list[int]:
    failing = TestResult("test_a.py::test_it", Outcome.FAILED, message=message)
    coverage = {"test_a.py::test_it": {"pkg/__init__.py": frozenset({6})}}
    found = localize(project, Baseline((failing,), coverage, 1.0, "pytest"))
    return [suspect.line for suspect in found if suspect.path == "pkg/__init__.py"]


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("E       TypeError: object of type 'Box' has no len()", 4),
        ("E       assert <bound method Box.size of Box> == 3\n>       assert box.size == 3", 8),
        ("E       ImportError: cannot import name 'near' from 'pkg' (/x/pkg/__init__.py)", 1),
    ],
)
def test_suspected_where_an_error_names_it(project, message, line):
    assert line in suspected(project, message)
    assert line not in suspected(project, "E       assert 1 == 2")


def test_a_clause_that_the_error_came_through(tmp_path):
    code = "def f(x):\n    try:\n        return int(x)\n    except TypeError:\n        return 0\n"
    (tmp_path / "a.py").write_text(code)
    frames = (Frame("a.py", 3, "f"),)
    failing = TestResult("t::a", Outcome.FAILED, 0.0, "E       OverflowError: cannot convert", frames)
    coverage = {"t::a": {"a.py": frozenset({2, 3, 4})}}
    found = localize(tmp_path, Baseline((failing,), coverage, 1.0, "pytest"))
    assert [suspect.line for suspect in found][:2] == [3, 4]
