from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deskagent.errors import UsageError
from deskagent.repair.shellline import parse

_WORDS = st.lists(
    st.text(alphabet="ab'\"\\ $*{},#~!&|;\n\té=", min_size=1, max_size=6), min_size=1, max_size=5
)


@given(_WORDS)
def test_quoted_words_come_back(words: list[str]) -> None:
    line = shlex.join(words)
    commands = parse(line)
    if commands is None:
        assert words[0] in {"!", "{"}
    else:
        assert [[word.text for word in command] for command in commands] == [words]
        assert not any(word.globs for command in commands for word in command)


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="ab'\"\\ $*{},#&;-=", min_size=1, max_size=12))
def test_what_is_understood_a_shell_understands_so(tail: str) -> None:
    line = f"x {tail}"
    try:
        commands = parse(line)
    except UsageError:
        assert subprocess.run(("sh", "-n", "-c", line), capture_output=True).returncode != 0
        return
    if commands is None or len(commands) > 1:
        return
    script = f"x() {{ printf '%s\\0' \"$@\"; }}; set -f; {line}"
    done = subprocess.run(("sh", "-c", script), capture_output=True, text=True)
    said = done.stdout.split("\0")[:-1] if len(commands[0]) > 1 else []
    assert [word.text for word in commands[0][1:]] == said


@pytest.mark.parametrize(
    "line",
    [
        "pytest | tail",
        "pytest; true",
        "pytest || true",
        "pytest &",
        "pytest > log",
        "pytest $X",
        'pytest "$X"',
        "pytest `x`",
        "(pytest)",
        "pytest\nrm x",
        "for x in 1; do pytest; done",
        "time pytest",
        "! pytest",
        "pytest ~/tests",
        "pytest tests/{a,b}.py",
        "pytest &&",
        "&& pytest",
    ],
)
def test_what_only_a_shell_can_run(line: str) -> None:
    assert parse(line) is None


def test_assignments_globs_and_chains() -> None:
    commands = parse("cd 'a b' && X=1 Y='2 3' pytest tests/*.py -k 'a*' 'Z=1' # why")
    assert commands is not None
    assert [word.text for word in commands[0]] == ["cd", "a b"]
    last = commands[1]
    assert [(word.text, word.assigns) for word in last[:2]] == [("X=1", True), ("Y=2 3", True)]
    assert [(word.text, word.globs) for word in last[2:]] == [
        ("pytest", False),
        ("tests/*.py", True),
        ("-k", False),
        ("a*", False),
        ("Z=1", False),
    ]
    assert not last[-1].assigns


@pytest.mark.parametrize("line", ["", "   ", "# nothing", "pytest 'x", 'pytest "x', 'pytest "x\\'])
def test_empty_and_broken_lines_are_usage_errors(line: str) -> None:
    with pytest.raises(UsageError):
        parse(line)
