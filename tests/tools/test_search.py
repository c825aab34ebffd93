"""Finding files by name and lines by what stands in them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from deskagent.tools import grep
from deskagent.tools.base import ToolError
from deskagent.tools.glob import Glob, GlobArguments
from deskagent.tools.grep import Grep, GrepArguments


@pytest.fixture(autouse=True)
def files(project: Path) -> None:
    (project / ".gitignore").write_text("build/\n")
    for name, content in {
        "src/a.py": "import os\nprint('Hallo')\n",
        "src/deep/b.py": "x = 1\r\nhallo = 2\r\n",
        "notes.md": "hallo\n",
        "build/c.py": "hallo\n",
        "data.bin": "\0hallo\n",
    }.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_bytes(content.encode())
    os.utime(project / "src/a.py", (1, 1))


def found(context, text, **arguments) -> str:
    return text(Grep().run(GrepArguments(**arguments), context))


def test_files_are_listed_by_pattern_the_latest_first_without_what_git_ignores(context, text) -> None:
    assert text(Glob().run(GlobArguments(pattern="*.py"), context)).split("\n") == [
        "src/deep/b.py",
        "src/a.py",
    ]
    assert text(Glob().run(GlobArguments(pattern="/*.md"), context)) == "notes.md"
    assert text(Glob().run(GlobArguments(pattern="*.py", path="src/deep"), context)) == "src/deep/b.py"
    assert text(Glob().run(GlobArguments(pattern="*.rs"), context)) == "No file fits."


def test_lines_are_found_in_text_files_alone(context, text) -> None:
    assert found(context, text, pattern="hallo") == "notes.md:1: hallo\nsrc/deep/b.py:2: hallo = 2"
    assert "src/a.py:2" in found(context, text, pattern="hallo", ignore_case=True)
    assert found(context, text, pattern="hallo", files="*.py") == "src/deep/b.py:2: hallo = 2"
    assert found(context, text, pattern="hallo", path="notes.md") == "notes.md:1: hallo"
    assert found(context, text, pattern="nowhere") == "Nothing was found."


def test_more_than_is_shown_is_counted(context, text, project: Path) -> None:
    (project / "many.txt").write_text("needle\n" * (grep.MOST + 7))
    assert found(context, text, pattern="needle").endswith("(7 more lines; narrow the search)")


def test_an_expression_without_an_end_is_ended(
    context, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grep, "_SECONDS", 0.5)
    (project / "a.txt").write_text("a" * 40 + "!\n")
    with pytest.raises(ToolError, match="was ended"):
        Grep().run(GrepArguments(pattern="(a+)+$"), context)


def test_what_is_no_expression_is_said(context) -> None:
    with pytest.raises(ToolError, match="no regular expression"):
        Grep().run(GrepArguments(pattern="("), context)
