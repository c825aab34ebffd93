"""Background jobs are shown live, taken over by keyboard, given back and ended; real programs at real terminals."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.events import Key, Paste

from deskagent.terminal.pty import PtySession
from deskagent.terminal.sandbox import Unconfined
from deskagent.terminal.styled import Look
from deskagent.terminal.types import Command, Policy
from deskagent.tools.jobs import Job, Jobs
from ui.panes import keys
from ui.panes.screen_view import ScreenView, _inert
from ui.panes.terminal import TerminalPane


@pytest.fixture
def jobs() -> Iterator[Jobs]:
    made = Jobs()
    yield made
    made.close()


@pytest.fixture
def start(jobs: Jobs, tmp_path: Path) -> Callable[[str], Job]:
    def begin(line: str) -> Job:
        env = {"PATH": os.environ["PATH"], "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
        session = PtySession(
            Command(("bash", "-c", line), tmp_path, env, pty=True, size=(50, 200)),
            sandbox=Unconfined(),
            policy=Policy(writable=(tmp_path,)),
        )
        return jobs.add(line, session)

    return begin


async def until(pilot, what: Callable[[], object]) -> None:
    for _ in range(1200):
        if what():
            return
        await pilot.pause(0.05)
    raise AssertionError(f"it never came; the screen is:\n{pilot.app.text()}")


def told(app) -> list[str]:
    return list(dict.fromkeys(m.told for m in app.got if isinstance(m, TerminalPane.Did)))


@pytest.mark.parametrize("size", [(80, 24), (250, 80), (24, 8)])
def test_what_a_job_prints_is_seen_while_it_runs(jobs, start, hosted, size) -> None:
    async def play(app, pilot) -> None:
        assert "Nothing runs" in app.text()
        job = start("printf '\\033[31mred\\033[0m one\\n'; read x; echo two; exit 3")
        await until(pilot, lambda: "red one" in app.text())
        job.session.write(b"\r")
        await until(pilot, lambda: "two" in app.text() and "exit 3" in app.text())

    hosted(TerminalPane(jobs), play, size=size)


def test_the_person_takes_over_and_gives_back(jobs, start, hosted) -> None:
    job = start("stty size; read -p 'name? ' x; stty size; echo hello $x; cat")

    async def play(app, pilot) -> None:
        await until(pilot, lambda: "waits for input" in app.text())
        await pilot.press("t")
        assert job.taken and "Your turn" in app.text()
        await until(pilot, lambda: job.session.size != (50, 200))
        await pilot.press("A", "d", "a", "enter")
        await until(pilot, lambda: "hello Ada" in app.text())
        rows, columns = app.query_one(ScreenView).size.height, app.query_one(ScreenView).size.width
        assert "50 200" in app.text() and f"{rows} {columns}" in app.text()
        app.query_one(ScreenView).post_message(Paste("one\n\x1b[201~two\n"))
        await until(pilot, lambda: app.text().count("two") == 2)  # typed, and said by cat
        await pilot.press("ctrl+right_square_bracket")
        assert not job.taken and "Your turn" not in app.text()
        await until(pilot, lambda: job.session.size == (50, 200))
        await pilot.press("z")
        assert told(app) == [f"The person typed into job-1 ({job.line}) and gave it back."]

    hosted(TerminalPane(jobs), play)


def test_a_job_that_ends_under_the_persons_hands_is_given_back(jobs, start, hosted) -> None:
    job = start("cat")

    async def play(app, pilot) -> None:
        await until(pilot, lambda: "job-1" in app.text())
        await pilot.press("t", "ctrl+d")
        await until(pilot, lambda: "exit 0" in app.text())
        assert not job.taken and told(app) == ["job-1 ended while the person typed into it."]
        await pilot.press("t", "x")  # nothing to take or to end
        assert not job.taken and len(told(app)) == 1

    hosted(TerminalPane(jobs), play)


def test_a_job_is_chosen_and_ended(jobs, start, hosted) -> None:
    first, second = start("echo first; cat"), start("echo second; cat")

    async def play(app, pilot) -> None:
        await until(pilot, lambda: app.query_one(ScreenView)._session is second.session)
        app.query_one("OptionList").focus()
        await pilot.press("up")
        await until(pilot, lambda: app.query_one(ScreenView)._session is first.session)
        await pilot.press("x")
        await until(pilot, lambda: first.result is not None and "✗" in app.text())
        assert second.result is None and told(app) == ["The person ended job-1 (echo first; cat)."]

    hosted(TerminalPane(jobs), play)


def test_lines_that_left_the_screen_are_scrolled_to(jobs, start, hosted) -> None:
    start("seq 300; cat")

    async def play(app, pilot) -> None:
        view = app.query_one(ScreenView)
        await until(pilot, lambda: "300" in app.text())
        view.focus()
        await pilot.press("g")
        await until(pilot, lambda: any(line.strip() == "1" for line in app.text().splitlines()))
        jobs.all[0].session.write(b"more\r")
        await until(pilot, lambda: "more" in jobs.all[0].session.screen().text)
        await pilot.pause(0.1)
        assert any(line.strip() == "1" for line in app.text().splitlines())  # the place stays
        await pilot.press("G")
        await until(pilot, lambda: "more" in app.text())

    hosted(TerminalPane(jobs), play)


def test_a_flood_leaves_the_app_awake(jobs, start, hosted) -> None:
    job = start("head -c 60000000 /dev/zero | tr '\\0' 'a' | fold -w 100; echo the end")

    async def play(app, pilot) -> None:
        ticks = 0
        while job.result is None:
            await asyncio.sleep(0.01)
            ticks += 1
        assert ticks > 3  # the loop went on while it came
        await until(pilot, lambda: "the end" in app.text())

    hosted(TerminalPane(jobs), play)


def test_hostile_output_stays_in_its_place(jobs, start, hosted) -> None:
    evil = r"\033]52;c;eA==\007\033[999;999Hx\033[2J\u202e[bold]no markup[/bold]\033]8;;http://x\033\\link\033[?1049h\033[3J"
    start(f"printf '{evil}'; echo; echo '[red]after'; cat")

    async def play(app, pilot) -> None:
        await until(pilot, lambda: "[red]after" in app.text())
        lines = app.text().splitlines()
        assert lines[0].lstrip().startswith(("●", "?")) and "your turn" in lines[-1]

    hosted(TerminalPane(jobs), play)


@given(st.text(max_size=30))
def test_cells_stay_as_wide_as_they_were(data) -> None:
    from rich.cells import cell_len

    shown = _inert(data)
    assert shown.isprintable() or not data.isprintable()
    assert cell_len(shown) >= cell_len(data) and "\x1b" not in shown and "\u202e" not in shown


def test_colours_of_every_kind() -> None:
    from ui.panes.screen_view import _style

    for name in ("default", "brown", "brightred", "brightbrown", "ff00d7", "black", "brightblack"):
        _style(Look(fg=name, bg=name))


@pytest.mark.parametrize(
    ("key", "character", "data"),
    [
        ("a", "a", b"a"),
        ("é", "é", "é".encode()),
        ("enter", "\r", b"\r"),
        ("ctrl+c", "\x03", b"\x03"),
        ("ctrl+d", None, b"\x04"),
        ("escape", "\x1b", b"\x1b"),
        ("up", None, b"\x1b[A"),
        ("ctrl+right", None, b"\x1b[1;5C"),
        ("shift+tab", None, b"\x1b[Z"),
        ("f5", None, b"\x1b[15~"),
        ("delete", None, b"\x1b[3~"),
        ("alt+x", None, b""),
        ("alt+x", "x", b"\x1bx"),
        ("ctrl+backslash", "\x1c", b"\x1c"),
        ("f21", None, b""),
    ],
)
def test_keys_are_typed_as_a_terminal_types_them(key, character, data) -> None:
    assert keys.typed(Key(key, character)) == data


def test_cursor_keys_in_application_mode() -> None:
    assert keys.typed(Key("up", None), cursor_keys=True) == b"\x1bOA"
