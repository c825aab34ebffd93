"""A long session: only what is near the view is mounted, and every item can be reached."""

from __future__ import annotations

import random
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from deskagent.agent.front import Streamed
from deskagent.messages import Author, Call, Result, Text
from deskagent.providers.base import CallDelta, Retrying, TextDelta, ThinkingDelta
from deskagent.session import events, talk
from deskagent.session.journal import Journal
from tests.ui.conftest import Play, says
from ui.log.fold import Fold
from ui.log.items import Said
from ui.widgets.item import ItemView, View
from ui.widgets.markdown import WordsView
from ui.widgets.transcript import Transcript

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


def test_an_end_is_reached_before_what_came_first_is_mounted(play) -> None:
    async def steps(on: Play) -> None:
        transcript = on.app.transcript
        transcript.scroll_home(animate=False, immediate=True, force=True)
        on.app.fold.note("info", "the first")
        transcript.post_message(Transcript.Reached())
        await on.pilot.pause()
        await transcript.fresh()
        await on.shows("the first")

    play([], steps)


class Busy:
    """A fold that goes on whenever the transcript waits for something."""

    def __init__(self, fold: Fold, seed: int) -> None:
        self.fold, self.rng = fold, random.Random(seed)
        self.asks = 0

    def step(self) -> None:
        rng, ask = self.rng, f"ask{self.asks}"
        match rng.choices(range(9), (6, 10, 4, 4, 3, 4, 3, 1, 0.3))[0]:
            case 0:
                self.asks += 1
                self.fold.take(
                    talk.Spoken(id=f"said{self.asks}", parts=(Text("Go on."),), author=Author.PERSON)
                )
                self.fold.take(talk.ModelAsked(id=f"ask{self.asks}", model="m"))
            case 1:
                part, text = rng.randrange(3), rng.choice(("one ", "**two**\n\n", ""))
                made = (ThinkingDelta(part, text), TextDelta(part, text), CallDelta(part, "c", "read", text))
                self.fold.take(Streamed(ask, rng.choice(made)))
            case 2:
                self.fold.take(Streamed(ask, Retrying("busy", 2.0)))
            case 3:
                self.fold.take(talk.PartCame(ask=ask, part=Text("It is.\n")))
            case 4:
                self.fold.take(talk.PartCame(ask=ask, part=Call("c", "read", "{}")))
            case 5:
                self.fold.note("info", "a note")
            case 6:
                self.fold.take(talk.ModelAnswered(ask=ask, stop="end", error=rng.choice(("", "broken"))))
            case 7:
                turns = [item.turn for item in self.fold.items if isinstance(item, Said)]
                if turns:
                    self.fold.take(talk.Rewound(to=rng.choice(turns[-5:])))
            case _:
                for n in range(rng.choice((30, 200))):
                    self.fold.note("info", f"note {n}")

    def watch(self, monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> None:
        """Has it go on while `owner.name` is waited for, before and after."""
        plain: Callable[..., Awaitable[Any]] = getattr(owner, name)

        def watched(*args: Any, **named: Any) -> Awaitable[None]:
            begun = plain(*args, **named)

            async def wait() -> None:
                self.step()
                await begun
                self.step()

            return wait()

        monkeypatch.setattr(owner, name, watched)


@pytest.mark.parametrize("seed", range(2))
def test_whatever_becomes_of_the_fold_meanwhile_a_part_of_it_is_mounted(
    play, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    async def steps(on: Play) -> None:
        transcript, fold = on.app.transcript, Fold()
        busy = Busy(fold, seed)
        with monkeypatch.context() as patch:
            await transcript.read(fold)
            for owner, name in ((Transcript, "mount_all"), (Transcript, "remove_children")):
                busy.watch(patch, owner, name)
            for owner in (ItemView, WordsView):
                busy.watch(patch, owner, "show")
            for _ in range(80):
                busy.step()
                match busy.rng.choices(range(5), (12, 3, 1, 1, 4))[0]:
                    case 0:
                        await transcript.fresh()
                    case 1:
                        transcript.post_message(Transcript.Reached())
                        await on.pilot.pause()
                    case 2:
                        await transcript.show_start()
                    case 3:
                        await transcript.show_end()
                    case _:
                        transcript.scroll_relative(y=busy.rng.choice((-1000, -20, 20, 1000)), animate=False)
                        await on.pilot.pause()
        await transcript.fresh()
        await on.pilot.pause()
        await transcript.fresh()
        shown = [view.item for view in transcript.children if isinstance(view, View)]
        assert 0 < len(shown) <= 160
        start = next(at for at, item in enumerate(fold.items) if item is shown[0])
        assert all(a is b for a, b in zip(fold.items[start:], shown, strict=False))
        await transcript.show_end()
        await transcript.fresh()
        last = transcript.children[-1]
        assert isinstance(last, View) and last.item is fold.items[-1]

    play([], steps)
