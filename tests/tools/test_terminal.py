"""Commands run to their end, in bounds, and say how they ended."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from deskagent.messages import Outcome
from deskagent.tools.base import ToolError
from deskagent.tools.plain import LONGEST, plain, shortened
from deskagent.tools.terminal import Terminal, TerminalArguments


def run(context, line: str, **more):
    return Terminal().run(TerminalArguments(command=line, **more), context)


def test_what_is_printed_comes_back_and_a_failure_says_its_code(context, text) -> None:
    assert text(run(context, "echo one; echo two >&2")) == "one\ntwo"
    assert text(run(context, "echo no; exit 3")).startswith("no\n(exit 3")
    assert run(context, "exit 3").outcome is Outcome.DONE


def test_it_runs_in_the_project_and_each_line_starts_afresh(context, text, project: Path) -> None:
    run(context, "cd / && export A=1")
    assert text(run(context, "pwd; echo $A")).split("\n")[0] == str(project)


def test_what_takes_too_long_or_waits_for_somebody_is_ended(context, text) -> None:
    slow = run(context, "sleep 60", seconds=0.5)
    assert slow.outcome is Outcome.FAILED and "too long" in text(slow)
    asking = run(context, "read -p 'Sure? ' x")
    assert asking.outcome is Outcome.FAILED and "Nobody types here" in text(asking)


def test_it_ends_when_it_is_cancelled(context) -> None:
    cancel = threading.Event()
    cancel.set()
    assert run(replace(context, cancel=cancel), "sleep 60").outcome is Outcome.CANCELLED


def test_output_comes_while_it_runs_and_a_long_one_is_kept_whole(context, text) -> None:
    said: list[str] = []
    kept: list[bytes] = []

    def keep(data: bytes) -> str:
        kept.append(data)
        return "0123456789abcdef"

    result = run(replace(context, say=said.append, keep=keep), "seq 1 20000")
    assert "".join(said).replace("\r", "").endswith("20000\n")
    shown = text(result)
    assert (
        shown.startswith("1\n2\n")
        and "left out" in shown
        and "\n20000\n" in shown
        and "0123456789ab" in shown
    )
    assert kept[0].count(b"\n") == 20000


def test_the_wish_shows_the_whole_line_and_names_its_commands_where_it_is_clear(context) -> None:
    wish = Terminal().wish(TerminalArguments(command="git status && ls"), context)
    assert wish.subject == "git status && ls" and wish.commands == (("git", "status"), ("ls",))
    assert Terminal().wish(TerminalArguments(command="ls $(id)"), context).commands == ()
    for bad in ("", " \n", "ls\0", "; ".join(["ls"] * 60)):
        with pytest.raises(ToolError):
            Terminal().wish(TerminalArguments(command=bad), context)


def test_escapes_and_what_was_overwritten_are_left_out() -> None:
    assert (
        plain("\x1b[31mred\x1b[0m \x1b]0;title\x07ok\r\n10%\r50%\r100%\r\ndone\x07") == "red ok\n100%\ndone"
    )
    assert plain("\x1b]52;c;" + "A" * 50) == ""
    assert len(plain("x" * 9000)) < LONGEST + 60


def test_a_long_text_keeps_both_ends() -> None:
    lines = "".join(f"line {n}\n" for n in range(9000))
    short = shortened(lines)
    assert short.startswith("line 0\n") and short.endswith("line 8999\n") and len(short) < 21_000
    assert shortened("short") == "short"
