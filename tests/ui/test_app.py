"""The app as a person uses it: what is said comes back, calls are asked for, everything can be interrupted."""

from __future__ import annotations

import threading
from pathlib import Path

from textual.events import Key

from deskagent.agent.permissions import Mode
from deskagent.messages import Outcome
from deskagent.providers.base import TextDelta
from tests.ui.conftest import Play, calls, says, thinks
from ui.log.items import Notice, Said, Thought, Words, Work

EDIT = ("c2", "edit", '{"path": "calc.py", "old": "a - b", "new": "a + b"}')
READ = ("c1", "read", '{"path": "calc.py"}')


def test_an_answer_is_streamed_and_shown(play) -> None:
    async def steps(on: Play) -> None:
        await on.send("what is it?")
        await on.until(lambda: on.items(Words))
        await on.idle()
        await on.shows("what is it?")
        await on.shows("Some bold words")
        await on.shows("75%")
        assert [item.text for item in on.items(Said)] == ["what is it?"]
        assert on.items(Thought)[0].tokens == 12

    provider = play([[thinks("Let me see."), *says("Some **bold** ", "words.")]], steps)
    assert len(provider.asked) == 1


def test_what_is_typed_ahead_of_the_app_is_sent_whole(play) -> None:
    async def steps(on: Play) -> None:
        text = "all of these words come at once"
        for letter in text:
            on.app.post_message(Key("space" if letter == " " else letter, letter))
        on.app.post_message(Key("enter", "\r"))
        await on.until(lambda: on.items(Said))
        await on.idle()
        assert on.items(Said)[0].text == text and not on.app.composer.text

    play([says("Seen.")], steps)


def test_a_change_is_asked_for_with_its_diff_and_made(play, project: Path) -> None:
    async def steps(on: Play) -> None:
        await on.send("fix it")
        await on.shows("Make this change?")
        assert "+     return a + b" in on.screen() and "a - b" in (project / "calc.py").read_text()
        await on.press("y")
        await on.shows("It adds now.")
        work = on.items(Work)
        assert [item.state for item in work] == [Outcome.DONE, Outcome.DONE] and work[1].diff

    play([calls(READ), calls(EDIT), says("It adds now.")], steps)
    assert "a + b" in (project / "calc.py").read_text()


def test_a_change_is_refused_in_words(play, project: Path) -> None:
    async def steps(on: Play) -> None:
        await on.send("fix it")
        await on.shows("Make this change?")
        await on.press("x", " ", "y", "enter")
        await on.shows("Then not.")
        assert on.items(Work)[1].state is Outcome.REFUSED

    provider = play([calls(READ), calls(EDIT), says("Then not.")], steps)
    assert "a - b" in (project / "calc.py").read_text()
    assert "They say: x y" in str(provider.asked[-1].turns)


def test_escape_interrupts_an_answer_and_it_goes_on_from_there(play) -> None:
    held = threading.Event()

    async def steps(on: Play) -> None:
        await on.send("go")
        await on.shows("Begun")
        await on.press("escape")
        await on.shows("interrupted")
        held.set()
        await on.idle()
        await on.send("and now?")
        await on.shows("Going on.")

    provider = play([[TextDelta(1, "Begun"), held.wait], says("Going on.")], steps)
    assert "Begun" in str(provider.asked[1].turns)


def test_what_is_said_meanwhile_is_seen_before_the_next_request(play) -> None:
    held = threading.Event()

    async def steps(on: Play) -> None:
        await on.send("go")
        await on.shows("Begun")
        await on.send("look at b too")
        await on.until(lambda: len(on.items(Said)) == 2)
        held.set()
        await on.shows("Both.")

    provider = play([[TextDelta(1, "Begun"), held.wait, *says("…")], says("Both.")], steps)
    assert "look at b too" in str(provider.asked[1].turns[-1])


def test_the_mode_goes_round(play) -> None:
    async def steps(on: Play) -> None:
        for mode in ("auto", "plan", "ask"):
            await on.press("shift+tab")
            await on.until(lambda mode=mode: on.app.facts.mode == mode)

    play([], steps, mode=Mode.ASK)


def test_a_slash_command_tells_and_an_unknown_one_says_so(play) -> None:
    async def steps(on: Play) -> None:
        await on.send("/budget low")
        await on.shows("Effort: low")
        await on.send("/nonsense")
        await on.shows("There is no command /nonsense")

    play([], steps)


def test_a_shell_line_runs_and_the_model_sees_it(play) -> None:
    async def steps(on: Play) -> None:
        await on.send("!echo $((20 + 22))")
        await on.until(lambda: on.items(Work))
        assert on.items(Work)[0].result.strip() == "42"
        await on.send("and?")
        await on.shows("Seen.")

    provider = play([says("Seen.")], steps)
    assert "42" in str(provider.asked[0].turns)


def test_a_session_that_can_not_be_opened_is_told(play, project: Path) -> None:
    async def steps(on: Play) -> None:
        await on.shows("no session of")
        assert on.items(Notice)[0].level == "error"

    play([], steps, session="")
