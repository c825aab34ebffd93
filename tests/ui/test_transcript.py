"""A long session: only what is near the view is mounted, and every item can be reached."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from deskagent.messages import Author, Call, Result, Text
from deskagent.session import events, talk
from deskagent.session.journal import Journal
from tests.ui.conftest import Play, says
from ui.log.items import Said

TURNS = 1500


@pytest.fixture
def long(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A session of 9,000 events and more."""
    monkeypatch.setenv("DESKAGENT_HOME", str(tmp_path / "home"))

    def fill(journal: Journal) -> None:
        journal.append(events.SessionStarted(version="1", cwd=str(project)))
        for n in range(TURNS):
            journal.append(events.Request(text=f"question {n}"))
            journal.append(talk.Spoken(id=f"t{n}", parts=(Text(f"question {n}"),), author=Author.PERSON))
            journal.append(talk.ModelAsked(id=f"a{n}", model="stand/in"))
            journal.append(talk.PartCame(ask=f"a{n}", part=Text(f"Answer **{n}**.")))
            journal.append(talk.PartCame(ask=f"a{n}", part=Call(f"c{n}", "read", '{"path": "calc.py"}')))
            journal.append(talk.ModelAnswered(ask=f"a{n}", stop="calls"))
            journal.append(talk.CallEnded(id=f"c{n}", result=Result.of("1\tx")))

    return Journal.bring(1.7e9, fill)


def questions(on: Play) -> list[int]:
    """The numbers of the questions on the screen."""
    return [int(number) for number in re.findall(r"question (\d+)", on.screen())]


def test_a_long_session_opens_at_its_end_and_is_reached_as_a_whole(play, long: str) -> None:
    async def steps(on: Play) -> None:
        assert on.app.session == long
        transcript = on.app.transcript
        assert len(on.items()) >= 3 * TURNS and len(transcript.children) < 60
        await on.shows(f"question {TURNS - 1}")
        seen = set()
        for _ in range(60):
            await on.press("pageup")
            await on.pilot.pause()
            seen |= set(questions(on))
        numbers = sorted(seen)
        assert numbers == list(range(numbers[0], numbers[-1] + 1)) and len(numbers) > 60
        assert len(transcript.children) <= 202
        await on.press("ctrl+home")
        await on.shows("question 0")
        await on.send("one more")
        await on.shows("Seen.")
        assert on.items(Said)[-1].text == "one more" and len(transcript.children) <= 202

    play([says("Seen.")], steps, session=long)


def test_who_scrolls_away_stays_where_they_are_while_more_comes(play, long: str) -> None:
    async def steps(on: Play) -> None:
        for _ in range(3):
            await on.press("pageup")
            await on.pilot.pause()
        before = questions(on)
        on.app.note("info", "something\n" * 50)
        await on.idle()
        assert questions(on) == before

    play([], steps, session=long)


def test_what_comes_in_the_place_of_all_that_was_mounted_is_shown(play) -> None:
    async def steps(on: Play) -> None:
        await on.send("mend it")
        await on.shows("Mended.")
        await on.idle()
        on.app.fold.take(talk.Rewound(to=on.items(Said)[0].turn))
        on.app.fold.note("info", "taken back")  # both before the transcript looks
        await on.app.transcript.fresh()
        await on.shows("taken back")
        assert "earlier" not in on.screen()

    play([says("Mended.")], steps)


def test_earlier_turns_stay_in_reach_when_all_that_was_mounted_is_taken_back(play, long: str) -> None:
    async def steps(on: Play) -> None:
        on.app.fold.take(talk.Rewound(to=f"t{TURNS - 100}"))
        await on.app.transcript.fresh()
        await on.shows(f"question {TURNS - 101}")
        await on.press("pageup")
        await on.until(lambda: min(questions(on), default=TURNS) < TURNS - 101, "earlier ones")

    play([], steps, session=long)
