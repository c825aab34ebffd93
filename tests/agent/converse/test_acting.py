"""Calls are done as permitted, on record before they begin, and each has a result whatever happens."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from deskagent.agent.converse.acting import Decision, Hands, Verdict
from deskagent.agent.recorder import Recorder
from deskagent.errors import TransientError
from deskagent.messages import Call, Outcome, Result
from deskagent.session import talk
from deskagent.terminal.sandbox import Unconfined
from deskagent.terminal.types import Policy
from deskagent.tools.base import Arguments, Context, Effect, Tool, ToolError, Wish


class Wanted(Arguments):
    what: str = "x"
    times: int = 1


class Doing(Tool[Wanted]):
    """Does what a test says."""

    name = "doing"
    prompt = "Does it."
    arguments = Wanted

    def __init__(
        self, do: Callable[[Wanted, Context], Result], effect: Effect = Effect.RUN, looks: bool = False
    ) -> None:
        self._do, self._effect, self.looks = do, effect, looks  # type: ignore[misc]

    def wish(self, arguments: Wanted, context: Context) -> Wish:
        if arguments.what == "nowhere":
            raise ToolError("There is no such place.")
        return Wish(self._effect, f"do {arguments.what}", f"do:{arguments.what}")

    def run(self, arguments: Wanted, context: Context) -> Result:
        return self._do(arguments, context)


class Gate:
    def __init__(self, verdict: Verdict = Verdict.ALLOW) -> None:
        self.verdict, self.seen = verdict, []

    def decide(self, tool: str, wish: Wish) -> Decision:
        self.seen.append(wish.subject)
        return Decision(
            self.verdict, "a test", "" if self.verdict is Verdict.ALLOW else "The person said no."
        )


@pytest.fixture
def hands(recorder: Recorder, project: Path) -> Callable[..., Hands]:
    def make(tool: Tool, gate: Gate | None = None) -> Hands:
        def context(call: str) -> Context:
            return Context(project, call, Unconfined(), Policy(), {}, {}, lambda changes: "", lambda data: "")

        return Hands(recorder, {tool.name: tool}, gate or Gate(), context)

    return make


def act(hands: Hands, *calls: Call) -> list[object]:
    """The conversation's events that came of them."""
    asyncio.run(hands.act(calls))
    return [
        r.event for r in hands.recorder.journal.read() if isinstance(r.event, talk.CallBegun | talk.CallEnded)
    ]


def call(id: str = "c1", arguments: str = "{}", name: str = "doing") -> Call:
    return Call(id, name, arguments)


def done(arguments: Wanted, context: Context) -> Result:
    return Result.of(f"did {arguments.what} {arguments.times}")


def test_a_call_is_on_record_before_it_begins_and_when_it_has_ended(hands) -> None:
    at_work: list[list[object]] = []

    def look(arguments: Wanted, context: Context) -> Result:
        at_work.append([r.event for r in hand.recorder.journal.read()])
        return done(arguments, context)

    hand = hands(Doing(look))
    begun, ended = act(hand, call(arguments='{"what": "a", "times": "2"}'))
    assert begun == at_work[0][-1]
    assert isinstance(begun, talk.CallBegun) and begun.subject == "do a" and begun.permitted == "a test"
    assert isinstance(ended, talk.CallEnded) and ended.result == Result.of("did a 2")


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (call(name="dong"), "Did you mean doing"),
        (call(arguments='{"what": '), "no JSON"),
        (call(arguments="[1]"), "JSON object"),
        (call(arguments='{"times": "many"}'), "times"),
        (call(arguments='{"who": 1}'), "who"),
        (call(arguments='{"what": "nowhere"}'), "no such place"),
        (call(arguments="[" * 100_000), "no JSON"),
    ],
)
def test_what_a_model_got_wrong_is_told_and_nothing_is_begun(hands, wrong: Call, says: str) -> None:
    (ended,) = act(hands(Doing(done)), wrong)
    assert ended.result.outcome is Outcome.FAILED and says in ended.result.content[0].text


def test_what_is_not_permitted_is_not_begun(hands) -> None:
    gate = Gate(Verdict.DENY)
    (ended,) = act(hands(Doing(done), gate), call())
    assert ended.result == Result.of("The person said no.", Outcome.REFUSED) and gate.seen == ["do x"]


@pytest.mark.parametrize(
    "error", [ToolError("bad"), TransientError("full"), RuntimeError("odd"), KeyError("k")]
)
def test_a_tool_that_fails_ends_its_call_alone(hands, error: Exception) -> None:
    def fail(arguments: Wanted, context: Context) -> Result:
        if context.call == "c1":
            raise error
        return done(arguments, context)

    ended = [e for e in act(hands(Doing(fail)), call("c1"), call("c2")) if isinstance(e, talk.CallEnded)]
    assert [e.result.outcome for e in ended] == [Outcome.FAILED, Outcome.DONE]


def test_calls_that_only_look_run_side_by_side_and_others_in_turn(hands) -> None:
    meeting = threading.Barrier(2, timeout=10)

    def meet(arguments: Wanted, context: Context) -> Result:
        meeting.wait()
        return done(arguments, context)

    assert len(act(hands(Doing(meet, Effect.READ, looks=True)), call("c1"), call("c2"))) == 2
    order: list[str] = []

    def note(arguments: Wanted, context: Context) -> Result:
        order.extend([f"{context.call} begins", f"{context.call} ends"])
        return done(arguments, context)

    act(hands(Doing(note)), call("c3"), call("c4"))
    assert order == ["c3 begins", "c3 ends", "c4 begins", "c4 ends"]


def test_a_cancelled_call_is_told_to_end_and_the_next_is_not_begun(hands) -> None:
    running = threading.Event()

    def wait(arguments: Wanted, context: Context) -> Result:
        running.set()
        context.cancel.wait(10)
        return Result.of("half of it", Outcome.CANCELLED)

    hand = hands(Doing(wait))

    async def cancel() -> None:
        task = asyncio.create_task(hand.act([call("c1"), call("c2")]))
        while not running.is_set():
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    began = time.monotonic()
    asyncio.run(cancel())
    assert time.monotonic() - began < 8
    found = [r.event for r in hand.recorder.journal.read()]
    assert [e.id for e in found if isinstance(e, talk.CallBegun)] == ["c1"]
    (ended,) = [e for e in found if isinstance(e, talk.CallEnded)]
    assert ended.id == "c1" and ended.result == Result.of("half of it", Outcome.CANCELLED)


def test_a_session_that_can_not_be_saved_lets_nothing_run(hands, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []

    def note(arguments: Wanted, context: Context) -> Result:
        ran.append(context.call)
        return done(arguments, context)

    hand = hands(Doing(note))

    def full(event: object, sync: bool = False) -> int:
        raise TransientError("The disk is full.")

    monkeypatch.setattr(hand.recorder.journal, "append", full)
    with pytest.raises(TransientError):
        asyncio.run(hand.act([call("c1"), call("c2")]))
    assert ran == []
