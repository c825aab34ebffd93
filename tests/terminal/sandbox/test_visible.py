"""What a command needs to see to start, told from its words."""

from __future__ import annotations

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
