"""A model localises a fault, tries typed edits, repairs by hand and has the tests judge it."""

from __future__ import annotations

from pathlib import Path

import pytest

from deskagent.terminal.sandbox import find_sandbox
from deskagent.terminal.types import Rung

MODE = "full" if find_sandbox().rung is Rung.NONE else "auto"
TEST = """from calc import add


def test_add():
    assert add(2, 3) == 5


def test_zero():
    assert add(0, 0) == 0
"""


@pytest.fixture
def told(agent, serve, project: Path):
    """Results of the calls that a model makes, and how the run ended."""

    def tell(*calls: tuple[str, dict[str, object]]):
        (project / "test_calc.py").write_text(TEST)
        server = serve(*([["call", list(call)]] for call in calls), [["text", "Done."]])
        words = [*agent.command, "run", "fix add", "--output-format", "json", "--permission-mode", MODE]
        done = agent.run(words, project)
        assert done.code == 0, done
        return [m["content"] for m in server.asked[-1]["messages"] if m["role"] == "tool"]

    return tell


def test_localised_tried_applied_and_verified(told, project: Path) -> None:
    listed = ("typed_edits", {"do": "list", "path": "calc.py", "line": 2, "most": 30})
    tried = ("typed_edits", {"do": "try", "edits": ["e1", "e2", "e3", "e4", "e5", "e6"]})
    found = told(
        ("localise", {"words": "add is wrong"}),
        listed,
        tried,
        ("verify", {}),
        ("read", {"path": "calc.py"}),
        ("edit", {"path": "calc.py", "old": "a - b", "new": "a * b"}),
        ("verify", {"note": "times"}),
        ("edit", {"path": "calc.py", "old": "a * b", "new": "a + b"}),
        ("verify", {}),
        ("verify", {"cold": True}),
    )
    assert "calc.py:2" in found[0] and "return a - b" in found[0] and "test_add" in found[0]
    assert "e1  calc.py:2" in found[1]
    assert "e1: " in found[2] and ": passes" in found[2]
    assert "Nothing was changed" in found[3]
    assert "Fails." in found[6] and "test_add" in found[6]
    assert "Passes: what failed passes now" in found[8]
    assert "The exact command passes" in found[9]
    assert "a + b" in (project / "calc.py").read_text()


def test_what_passes_already_and_a_test_that_was_changed_are_said(told, project: Path) -> None:
    weaker = {"path": "test_calc.py", "old": "== 5", "new": "== -1"}
    found = told(
        ("localise", {}),
        ("read", {"path": "test_calc.py"}),
        ("edit", weaker),
        ("verify", {}),
        ("localise", {}),
        ("typed_edits", {"do": "try", "edits": ["e1"]}),
    )
    assert "is a test: what passes now may say less" in found[3]
    assert "Nothing fails" in found[4]
    assert "There is no edit 'e1'" in found[5]
