"""What is picked: completions, what was said, sessions, where to go back to."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events

from deskagent.errors import UsageError
from deskagent.session.journal import Journal
from tests.ui.conftest import Play, calls, says
from ui.app import DeskApp
from ui.log.fuzzy import best
from ui.log.items import Notice, Said, Words
from ui.screens.picker import Picker
from ui.widgets.completing import wanted

EDIT = calls(
    ("c1", "read", '{"path": "calc.py"}'),
    ("c2", "edit", '{"path": "calc.py", "old": "a - b", "new": "a + b"}'),
)


async def picker(on: Play) -> Picker:
    await on.until(lambda: isinstance(on.app.screen, Picker), "a picker")
    await on.pilot.pause()
    return on.app.screen  # pyright: ignore[reportReturnType]


def test_a_file_and_a_command_are_completed(play) -> None:
    async def steps(on: Play) -> None:
        await on.type("see @clc")
        await on.until(lambda: on.app.completing.active)
        await on.press("tab")
        assert on.app.composer.text == "see @calc.py "
        on.app.composer.put("")
        await on.type("/bud")
        await on.until(lambda: on.app.completing.active)
        await on.press("enter")
        await on.shows("Effort: auto")

    play([], steps)


@pytest.mark.parametrize(
    ("before", "first", "kind"),
    [
        ("/mo", True, "/"),
        ("/mo", False, None),
        ("/mo x", True, None),
        ("a @b", True, "@"),
        ("a@b", True, None),
    ],
)
def test_where_something_can_be_completed(before: str, first: bool, kind: str | None) -> None:
    found = wanted(before, first)
    assert (found.kind if found else None) == kind


def test_letters_that_stand_together_match_better() -> None:
    names = ["deskagent/cli/slash.py", "src/calc_helpers.py", "calc.py", "tests/test_calc.py"]
    assert best("calc", names, 2) == ["calc.py", "tests/test_calc.py"]
    assert best("dcs", names, 5) == ["deskagent/cli/slash.py"]
    assert best("zz", names, 5) == []


def test_what_was_sent_comes_back_and_long_pastes_fold(play) -> None:
    long = "\n".join(f"line {n}" for n in range(40))

    async def steps(on: Play) -> None:
        await on.send("first")
        await on.shows("One.")
        await on.idle()
        await on.type("draft")
        await on.press("up")
        assert on.app.composer.text == "first"
        await on.press("down")
        assert on.app.composer.text == "draft"
        on.app.composer.put("")
        on.app.composer.post_message(events.Paste(long))
        await on.until(lambda: "[pasted #1: 40 lines]" in on.app.composer.text)
        await on.press("enter")
        await on.shows("Two.")
        assert on.items(Said)[-1].text == long

    play([says("One."), says("Two.")], steps)


def test_what_is_queued_is_sent_when_the_model_is_done(play) -> None:
    import threading

    held = threading.Event()

    async def steps(on: Play) -> None:
        await on.send("first")
        await on.until(lambda: on.app.busy)
        await on.type("second")
        await on.press("alt+enter")
        await on.shows("1 queued")
        held.set()
        await on.shows("Two.")
        assert [item.text for item in on.items(Said)] == ["first", "second"]

    provider = play([[held.wait, *says("One.")], says("Two.")], steps)
    assert len(provider.asked) == 2


def test_going_back_takes_words_and_files(play, project: Path) -> None:
    async def steps(on: Play) -> None:
        await on.send("fix it")
        await on.shows("Make this change?")
        await on.press("y")
        await on.shows("Fixed.")
        await on.idle()
        assert "a + b" in (project / "calc.py").read_text()
        await on.press("escape", "escape")
        await picker(on)
        await on.press("enter")
        await on.until(
            lambda: isinstance(on.app.screen, Picker) and on.app.screen._choice.title == "Take back"
        )
        await on.press("enter")
        await on.shows("Taken back")
        assert "a - b" in (project / "calc.py").read_text()
        assert on.items(Words) == [] and on.app.composer.text == "fix it"

    play([EDIT, says("Fixed.")], steps)


def test_another_session_is_gone_on_with_and_forked(play) -> None:
    async def steps(on: Play) -> None:
        await on.send("first session")
        await on.shows("One.")
        await on.idle()
        first = on.app.session
        await on.press("ctrl+g")
        await picker(on)
        await on.press("ctrl+f")
        await on.until(lambda: on.app.session not in ("", first), "a fork")
        await on.idle()
        assert [item.text for item in on.items(Said)] == ["first session"]
        await on.send("in the fork")
        await on.shows("Two.")
        await on.idle()
        with Journal.open(first, write=False) as journal:
            assert "in the fork" not in str([record.event for record in journal.read()])

    play([says("One."), says("Two.")], steps)


def test_all_keys_are_on_a_screen(play) -> None:
    async def steps(on: Play) -> None:
        await on.press("f1")
        await on.shows("Shift+Tab")
        await on.press("escape")
        await on.until(lambda: len(on.app.screen_stack) == 1)

    play([], steps)


def test_without_a_model_there_is_a_tour_and_nothing_is_begun(play, monkeypatch) -> None:
    there: list[bool] = []

    def check() -> None:
        if not there:
            raise UsageError("No model is set up.", hint="Add one.")

    monkeypatch.setattr(DeskApp.__init__, "__defaults__", (check,))

    async def steps(on: Play) -> None:
        await on.shows("deskagent model add")
        assert on.items(Notice)[0].text == "No model is set up.\nAdd one." and not on.app.session
        there.append(True)
        await on.send("hello")
        await on.shows("Hi.")

    play([says("Hi.")], steps)
