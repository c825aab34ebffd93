from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from deskagent.cli.index import index
from deskagent.repo import store


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DESKAGENT_HOME", str(tmp_path / "home"))
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.py").write_text(
        "def greet(name):\n    return hello(name)  # \x1b]0;owned\x07\n\n\ndef hello(x): ...\n"
    )
    return folder


def call(*arguments: str | Path) -> Result:
    return CliRunner().invoke(index, [str(argument) for argument in arguments])


def test_build_and_status(project: Path) -> None:
    assert "absent" in call("status", project).output
    assert call("build", project).output.startswith("1 files, 1 read, 0 gone")
    output = call("status", project).output
    assert "ready" in output
    assert "python     1" in output


@pytest.mark.parametrize(
    ("kind", "term", "expected"),
    [
        ("definition", "greet", "a.py:1: function greet  def greet(name)"),
        ("reference", "hello", "a.py:2: call in greet"),
        ("caller", "hello", "a.py:2: greet calls it at 2"),
        ("name", "gree", "greet"),
        ("similar", "greets", "a.py:1: function greet"),
        ("text", "owned", "a.py:2: return hello(name)  # ␛]0;owned␇"),
    ],
)
def test_a_query_builds_a_small_index_at_once_and_answers(
    project: Path, kind: str, term: str, expected: str
) -> None:
    result = call("query", term, project, "--kind", kind)
    assert (result.exit_code, result.stdout.strip()) == (0, expected)


def test_nothing_found_is_status_1(project: Path) -> None:
    result = call("query", "absent", project)
    assert result.exit_code == 1
    assert "Nothing found" in result.stderr


def test_the_map_fits_and_shows_signatures(project: Path) -> None:
    assert (
        call("map", project, "--tokens", "40").output == "a.py:\n    1 def greet(name)\n    5 def hello(x)\n"
    )


def test_a_query_on_a_locked_index_answers_and_says_so(project: Path) -> None:
    call("build", project)
    with store.writing(store.folder_of(project)):
        result = call("query", "greet", project)
        assert result.stdout.startswith("a.py:1")
        assert result.exit_code == 0
        (project / "home").mkdir()
    with store.writing(store.folder_of(project / "home")):
        result = call("query", "greet", project / "home")
        assert "being updated by another process" in result.stderr
        assert result.exit_code == 1
