"""What is said of Python files that Python can't read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from deskagent.repair.types import Outcome, Suspect, TestResult
from deskagent.repair.unreadable import no_source

NULLS = TestResult("t", Outcome.ERROR, message="SyntaxError: source code string cannot contain null bytes")
WRONG = TestResult("t", Outcome.FAILED, message="AssertionError: -1 != 3")
PLACE = Suspect("b.py", 1, 1.0, ())


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
def test_named_with_the_reason(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.py").write_bytes("x = 'é'\n".encode(encoding))
    (tmp_path / "b.py").write_text("x = 1\n")
    (tmp_path / "notes.txt").write_bytes("é".encode("utf-16"))
    said = no_source(tmp_path, [NULLS], [PLACE])
    assert said.startswith("a.py ") and "b.py" not in said and "notes" not in said
    assert ("UTF-8" in said) == (encoding != "cp1252")
    assert no_source(tmp_path, [WRONG], []) == said


def test_silent_where_it_is_not_the_matter(tmp_path: Path) -> None:
    (tmp_path / "b.py").write_text("x = 1\n")
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "loop.py").symlink_to("loop.py")
    assert no_source(tmp_path, [NULLS], []) == ""
    (tmp_path / "a.py").write_bytes("x = 'é'\n".encode("utf-16"))
    assert no_source(tmp_path, [WRONG], [PLACE]) == ""


def test_many_are_counted(tmp_path: Path) -> None:
    for number in range(9):
        (tmp_path / f"m{number}.py").write_bytes("x = 1\n".encode("utf-16"))
    assert no_source(tmp_path, [NULLS], []).endswith("So are 6 more files.")
