"""A model uses the repair search as a tool, and applies what it found."""

from __future__ import annotations

from pathlib import Path

from deskagent.terminal.sandbox import find_sandbox
from deskagent.terminal.types import Rung

MODE = "full" if find_sandbox().rung is Rung.NONE else "auto"


def test_an_edit_is_found_proved_shown_and_applied(agent, serve, project: Path) -> None:
    (project / "test_calc.py").write_text(
        "from calc import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n"
    )
    server = serve(
        [["call", ["repair", {"test": "python -m pytest -q", "words": "add is wrong"}]]],
        [["call", ["repair", {"apply": "patch-1"}]]],
        [["call", ["terminal", {"command": "python -m pytest -q"}]]],
        [["text", "add subtracted."]],
    )
    words = [*agent.command, "run", "fix add", "--output-format", "json", "--permission-mode", MODE]
    done = agent.run(words, project)
    assert done.code == 0, done
    results = [m["content"] for m in server.asked[-1]["messages"] if m["role"] == "tool"]
    assert "suspect: calc.py:2" in results[0] and "+    return a + b" in results[0]
    assert results[1] == "Applied." and "1 passed" in results[2]
    assert "a + b" in (project / "calc.py").read_text()
    assert done.result["changed_files"] == ["calc.py"]
