"""A shell line is taken apart only where nothing in it is left to the shell."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskagent.tools.shell import read


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("ls -la", [("ls", "-la")]),
        ("git status && make test | tail -3", [("git", "status"), ("make", "test"), ("tail", "-3")]),
        ("a; b\nc || ! d", [("a",), ("b",), ("c",), ("d",)]),
        ("echo 'a b' \"c d\" e'f'", [("echo", "a b", "c d", "ef")]),
        ("pytest -q 2>&1 >/dev/null", [("pytest", "-q")]),
    ],
)
def test_what_stands_for_itself_is_known(line: str, commands: list[tuple[str, ...]]) -> None:
    found = read(line)
    assert found.clear and list(found.commands) == commands


@pytest.mark.parametrize(
    "line",
    [
        "rm $X", "rm ${x@P}", "ls $(id)", "ls `id`", "ls <(id)", "ls >out", "ls >>out", "cat <<E\nx\nE", "X=1 ls",
        "(ls)", "{ ls; }", "if true; then ls; fi", "for i in 1; do ls; done", "f() { ls; }", "ls &", "ls *", "ls a?b",
        "ls {a,b}", "ls ~", "ls\rid", "l\\s", "$IFS", "eval ls\x00", "ls 'a", "", "#", "!!", "ls \u2028id", "ls >&out",
        "ls &>out", "echo \"$x\"", "ls 2>&1 >x", "case x in x) ls;; esac", "ls |& tee", "export A=b",
        "ls >/dev/null/../../x",
    ],
)  # fmt: skip
def test_what_is_left_to_the_shell_is_not_clear(line: str) -> None:
    assert not read(line).clear


@given(st.text(max_size=30))
def test_any_line_can_be_read(line: str) -> None:
    read(line)


@given(st.lists(st.text("ab -_./'\"=:,%+@é", min_size=1, max_size=8), min_size=1, max_size=4))
def test_quoted_words_are_what_a_shell_makes_of_them(words: list[str]) -> None:
    found = read(shlex.join(["printf", *words]))
    if found.clear:
        assert found.commands == (("printf", *words),)


@pytest.mark.parametrize("line", ["printf '%s|' a \"b c\" 'd e' f'g'", "printf '%s|' x && printf '%s|' y z"])
def test_a_shell_sees_the_same_words(line: str) -> None:
    ran = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=True).stdout
    told = "".join(f"{word}|" for words in read(line).commands for word in words[2:])
    assert ran == told
