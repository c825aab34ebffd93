"""What a command needs to see to start, told from its words."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from deskagent.terminal.sandbox.visible import program_folders


@pytest.fixture
def program(tmp_path: Path) -> Path:
    home = tmp_path.resolve() / "env"
    (home / "bin").mkdir(parents=True)
    (home / "lib").mkdir()
    tool = home / "bin" / "tool"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    return tool


@pytest.mark.parametrize(
    "argv",
    [
        ("sh", "-c", "{} -q | cat"),
        ("/bin/bash", "--norc", "-i", "-c", "true;{};true"),
        ("/bin/bash", "-lc", "FOO=1 '{}' x"),
    ],
)
def test_a_program_named_in_a_shell_line_is_seen_with_its_environment(
    program: Path, argv: tuple[str, ...]
) -> None:
    found = program_folders(tuple(word.format(program) for word in argv), {})
    assert program in found
    assert program.parents[1] in found


@pytest.mark.parametrize(
    "argv",
    [("echo", "-c", "{}"), ("sh", "{}"), ("sh", "-c", "echo '{}"), ("sh", "-c", "true # {}"), ("sh", "-c")],
)
def test_other_words_show_nothing(program: Path, argv: tuple[str, ...]) -> None:
    assert program not in program_folders(tuple(word.format(program) for word in argv), {})


def test_what_is_no_program_is_not_shown(program: Path) -> None:
    program.chmod(0o644)
    assert program not in program_folders(("sh", "-c", f"cat {program}"), {})


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    (tmp_path / "project" / ".venv" / "bin").mkdir(parents=True)
    return tmp_path / "project" / ".venv"


@pytest.mark.parametrize(
    "what", ["", "bin/python3", "lib/python3.11/os.py", "bin/python3 lib/python3.11/site.py"]
)
def test_an_environment_that_names_no_python_shows_nothing(
    environment: Path, tmp_path: Path, what: str
) -> None:
    other = tmp_path / "private"
    (other / "bin").mkdir(parents=True)
    for name in what.split():
        (other / name).parent.mkdir(parents=True, exist_ok=True)
        (other / name).write_text("")
        (other / name).chmod(0o755)
    (environment / "pyvenv.cfg").write_text(f"home = {other / 'bin'}\n")
    found = program_folders((str(environment / "bin" / "python"),), {})
    assert not any(folder.is_relative_to(other.resolve()) for folder in found)
    assert environment.resolve() in found


def test_an_environment_shows_the_python_that_it_was_made_of(environment: Path) -> None:
    base = Path(sys.base_prefix).resolve()
    (environment / "pyvenv.cfg").write_text(f"home = {base / 'bin'}\n")
    assert base in program_folders((str(environment / "bin" / "python"),), {})
