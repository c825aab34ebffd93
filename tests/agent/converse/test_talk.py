"""Conversations run to their end, go on after whatever cut them, and lose nothing."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from deskagent.agent.budget import Tier
from deskagent.agent.converse.acting import Decision, Hands, Verdict
from deskagent.agent.converse.talk import Limits, Talk
from deskagent.agent.loop import State
from deskagent.agent.recorder import Recorder
from deskagent.messages import Answer, Author, Call, Image, Outcome, Said, Text
from deskagent.providers import pictures
from deskagent.providers.base import ProviderError, Stop, Stopped, TextDelta, ThinkingDelta, Trouble, Usage
from deskagent.session import talk
from deskagent.session.history import History
from deskagent.session.journal import Journal
from deskagent.terminal.sandbox import Unconfined
from deskagent.terminal.types import Policy
from deskagent.tools.base import Context
from deskagent.tools.read import Read


class Open:
    def decide(self, tool: str, wish: object) -> Decision:
        return Decision(Verdict.ALLOW, "a test")


@dataclass
class Room:
    """Says in turn whether it could make some."""

    could: list[bool]
    full: bool = False

    async def __call__(self, words: str = "") -> bool:
        return self.could.pop(0) if self.could else False


class Both:
    """A front that is the history and the watcher."""

    interactive = False

    def __init__(self, history: History, watcher) -> None:
        self._history, self._watcher = history, watcher

    def ask(self, question) -> bool:
        return False

    def show(self, event) -> None:
        self._history.take(event)
        self._watcher.show(event)


@pytest.fixture
def journal(project: Path):
    with Journal.create(project) as made:
        yield made


@pytest.fixture
def make(journal: Journal, project: Path, watcher, scripted) -> Callable[..., Talk]:
    """A conversation with a scripted provider; what was there before is read from the session."""
    (project / "a.txt").write_text("hello\n")

    def build(answers, *, said: str = "do it", room: list[bool] | None = None, **more) -> Talk:
        history = History(record.event for record in journal.read())
        recorder = Recorder(journal, Both(history, watcher))

        def context(call: str) -> Context:
            return Context(project, call, Unconfined(), Policy(), {}, {}, lambda changes: "", lambda data: "")

        hands = Hands(recorder, {"read": Read()}, Open(), context)
        made = Talk(
            recorder, history, scripted(list(answers)), hands, "You help.", (), Room(room or []), **more
        )
        if said:
            made.say((Text(said),))
        return made

    return build


def texts(talk: Talk) -> list[str]:
    return [part.text for turn in talk.history.turns() for part in turn.parts if isinstance(part, Text)]


def test_calls_are_done_until_the_model_has_nothing_more_to_do(make, script) -> None:
    says, calls = script
    one = make([calls(("c1", "read", '{"path": "a.txt"}')), says("It says hello.")])
    assert asyncio.run(one.run()) is State.DONE
    said, answer, _ = one.history.turns()
    assert isinstance(answer, Answer) and answer.used[0].result.content == (Text("1\thello"),)
    assert texts(one) == ["do it", "It says hello."]
    assert one.provider.asked[1].turns == (said, answer)
    assert (one.turns, one.history.waiting) == (2, [])


def test_the_prefix_of_every_request_is_the_request_before(make, script) -> None:
    says, calls = script
    reads = [calls((f"c{n}", "read", f'{{"path": "a.txt", "first": {n}}}')) for n in range(1, 9)]
    one = make([*reads, says("done")])
    asyncio.run(one.run())
    asked = one.provider.asked
    for before, after in itertools.pairwise(asked):
        assert after.turns[: len(before.turns)] == before.turns
        assert (after.system, after.tools) == (before.system, before.tools)


def test_it_goes_on_in_a_new_process_where_the_old_one_was_killed(make, script, journal: Journal) -> None:
    says, _ = script
    for event in (
        talk.Spoken(id="u", parts=(Text("go"),)),
        talk.ModelAsked(id="a", model="stand/in"),
        talk.PartCame(ask="a", part=Call("c1", "read", "{}")),
        talk.PartCame(ask="a", part=Call("c2", "read", "{}")),
        talk.ModelAnswered(ask="a", stop="calls"),
        talk.CallBegun(id="c1", effect="run"),
    ):
        journal.append(event)
    one = make([says("I looked again.")], said="go on")
    assert asyncio.run(one.run()) is State.DONE
    answer = one.history.turns()[1]
    assert isinstance(answer, Answer)
    assert [used.result.outcome for used in answer.used] == [Outcome.UNKNOWN, Outcome.CANCELLED]
    assert History(r.event for r in journal.read()).turns() == one.history.turns()


def test_what_is_said_while_it_answers_is_seen_before_it_ends(make, script) -> None:
    says, _ = script
    one = make([])
    late = [TextDelta(0, "first"), lambda: one.say((Text("and this"),)), Stopped(Stop.END)]
    one.provider.answers = [late, says("second")]
    assert asyncio.run(one.run()) is State.DONE
    assert texts(one) == ["do it", "first", "and this", "second"]


def test_a_broken_connection_is_gone_on_with_and_calls_of_it_are_not_done(make, script) -> None:
    says, calls = script
    broken = [*calls(("c1", "read", '{"path": "a.txt"}'))[:1], ProviderError(Trouble.NETWORK, "reset")]
    one = make([[TextDelta(0, "I wi"), ProviderError(Trouble.NETWORK, "reset")], broken, says("done")])
    assert asyncio.run(one.run()) is State.DONE
    turns = one.history.turns()
    assert texts(one)[1] == "I wi" and isinstance(turns[2], Said) and turns[2].author is Author.DESKAGENT
    (used,) = [used for turn in turns if isinstance(turn, Answer) for used in turn.used]
    assert used.result.outcome is Outcome.CANCELLED


@pytest.mark.parametrize("trouble", [Trouble.AUTH, Trouble.BUSY, Trouble.NETWORK, Trouble.BAD_REQUEST])
def test_a_server_that_does_not_answer_ends_it_in_words_and_the_history_can_be_sent(make, trouble) -> None:
    one = make([[ProviderError(trouble, "The key is wrong.", hint="Set another.")]])
    assert asyncio.run(one.run()) is State.FAILED
    assert "The key is wrong." in one.why and texts(one) == ["do it"]


def test_a_full_context_is_made_room_in_once_it_can_be(make, script) -> None:
    says, _ = script
    full = ProviderError(Trouble.CONTEXT, "too long")
    one = make([[full], [full]], room=[True, False])
    assert asyncio.run(one.run()) is State.FAILED and one.why == "too long"
    again = make([[full], says("ok")], room=[True], said="again")
    assert asyncio.run(again.run()) is State.DONE


def test_an_answer_cut_by_its_length_is_gone_on_with_but_not_for_ever(make) -> None:
    cut = [TextDelta(0, "and so on"), Stopped(Stop.LENGTH)]
    one = make([cut] * 9)
    assert asyncio.run(one.run()) is State.FAILED
    assert "again and again" in one.why and one.turns == 4


def test_the_same_call_again_and_again_is_told_once_and_then_ends_it(make, script) -> None:
    _, calls = script
    one = make([calls((f"c{n}", "read", '{"path": "a.txt"}')) for n in range(20)])
    assert asyncio.run(one.run()) is State.FAILED
    assert one.why.startswith("It got nowhere") and one.turns < 8
    assert sum("another way" in text for text in texts(one)) == 1


def test_thinking_that_goes_round_is_ended_and_told(make, script) -> None:
    says, _ = script
    rounds = [ThinkingDelta(0, "Wait, let me check the parser again, perhaps it is the lexer. " * 20)] * 9
    one = make([[*rounds, Stopped(Stop.END)], says("done")])
    assert asyncio.run(one.run()) is State.DONE
    assert any("repeated itself" in text for text in texts(one))


def test_limits_end_it(make, script) -> None:
    _, calls = script
    reads = [calls((f"c{n}", "read", f'{{"path": "a.txt", "first": {n + 1}}}')) for n in range(9)]
    one = make(reads, limits=Limits(turns=3))
    assert asyncio.run(one.run()) is State.FAILED and one.turns == 3 and "turns" in one.why
    two = make([[TextDelta(0, "x"), Usage(cost=0.5), Stopped(Stop.END)]] * 2, limits=Limits(usd=0.4))
    assert asyncio.run(two.run()) is State.DONE and two.usd == 0.5


def test_cancelled_it_keeps_what_came(make, journal: Journal) -> None:
    one = make([])

    def stop() -> None:
        for task in asyncio.all_tasks():
            task.cancel()

    one.provider.answers = [[TextDelta(0, "half an ans"), stop, TextDelta(0, "wer"), Stopped(Stop.END)]]
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(one.run())
    history = History(record.event for record in journal.read())
    assert history.turns()[1] == Answer((Text("half an ans"),), "stand/in", "cut")


def test_ids_that_a_server_gives_twice_are_made_different(make, script) -> None:
    says, calls = script
    read = calls(("call_0", "read", '{"path": "a.txt"}'))
    one = make([read, calls(("call_0", "read", '{"path": "a.txt", "lines": 1}')), says("done")])
    asyncio.run(one.run())
    ids = [used.call.id for turn in one.history.turns() if isinstance(turn, Answer) for used in turn.used]
    assert ids == ["call_0", "call_0-2"]


def test_the_tier_follows_the_step_and_climbs_after_a_rut(make, script) -> None:
    says, calls = script
    one = make([calls(("c1", "read", '{"path": "a.txt"}')), says("done")], cap=Tier.HIGH)
    asyncio.run(one.run())
    assert [ask.tier for ask in one.provider.asked] == ["high", "high"]
    two = make([says("done")], effort="low", said="again")
    asyncio.run(two.run())
    assert two.provider.asked[0].tier == "low"


def test_a_server_that_refuses_a_picture_is_asked_again_without_it(make, script, watcher) -> None:
    says, _ = script
    made = make([[ProviderError(Trouble.BAD_REQUEST, "image input is not supported")], says("Well.")])
    made.say((Image("blob", "image/png", 3, 4, "shot.png"),))
    assert asyncio.run(made.run()) is State.DONE
    before, after = made.provider.asked
    assert pictures.any_in(before.turns) and not pictures.any_in(after.turns)
    assert pictures.any_in(made.history.turns())
