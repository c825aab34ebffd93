"""Subagents work in contexts of their own, with their caller's rights and limits; all of it is in one session."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from deskagent.agent.converse.talk import Limits
from deskagent.agent.converse.work import Options, at_work
from deskagent.agent.loop import State
from deskagent.agent.permissions import Mode
from deskagent.messages import Answer, Call, Outcome, Text
from deskagent.session import events, talk
from deskagent.session.history import History
from deskagent.session.journal import Journal
from deskagent.session.store import folders


@dataclass
class Person:
    """Answers every question so, and keeps them."""

    answer: str = "once"
    interactive: bool = True
    asked: list[str] = field(default_factory=list)

    def ask(self, question) -> bool:
        return False

    def choose(self, question, choices) -> str:
        self.asked.append(question.text)
        return self.answer

    def show(self, event) -> None:
        return None


@pytest.fixture
def options(project: Path, scripted) -> Callable[..., Options]:
    """first: what the session's own model says; then each subagent's, in the order that they begin."""
    (project / "a.txt").write_text("hello\n")

    def make(first, *others, **more) -> Options:
        made = iter([scripted(list(answers)) for answers in (first, *others)])
        return Options(start=project, argv=(), model=lambda name: (next(made), False), **more)

    return make


def agent(id: str, **more: str) -> tuple[str, str, str]:
    wanted = {"description": "look at it", "task": "read a.txt", **more}
    return id, "agent", str(wanted).replace("'", '"')


def results(history: History) -> list[tuple[str, str]]:
    return [
        (str(used.result.outcome), "".join(p.text for p in used.result.content if isinstance(p, Text)))
        for turn in history.turns()
        if isinstance(turn, Answer)
        for used in turn.used
    ]


READ = ("c1", "read", '{"path": "a.txt"}')


def test_its_last_message_is_the_result_and_its_events_are_in_the_session(options, script) -> None:
    says, calls = script
    given = options([calls(agent("c1")), says("Done.")], [calls(READ), says("It says hello.")])
    with at_work(given, Person()) as one:
        one.say((Text("go"),))
        assert asyncio.run(one.run()) is State.DONE
        ((outcome, told),) = results(one.history)
        inner = [r.event for r in one.recorder.journal.read() if isinstance(r.event, events.Within)]
    assert outcome == "done" and told.startswith("It says hello.")
    assert one.turns == 4
    history = History(event.event for event in inner)
    assert ("done", "1\thello") in results(history)


def test_several_at_once_work_beside_each_other(options, script) -> None:
    says, calls = script
    both = threading.Barrier(2, timeout=60)
    waits = [both.wait, *says("here")]
    given = options([calls(agent("c1"), agent("c2")), says("Done.")], [waits], [waits])
    with at_work(given, Person()) as one:
        one.say((Text("go"),))
        assert asyncio.run(one.run()) is State.DONE
        assert [outcome for outcome, _ in results(one.history)] == ["done", "done"]


def test_it_has_no_wider_rights_and_the_person_hears_who_asks(options, script, project: Path) -> None:
    says, calls = script
    write = calls(("c1", "write", '{"path": "new.txt", "content": "x"}'))
    person = Person(answer="no")
    given = options([calls(agent("c1")), says("Done.")], [write, says("I was not allowed to.")])
    with at_work(given, person) as one:
        one.say((Text("go"),))
        asyncio.run(one.run())
    assert not (project / "new.txt").exists()
    assert len(person.asked) == 1 and person.asked[0].endswith("(look at it): Make this change?")
    plan = options([calls(agent("c1")), says("Done.")], [write, says("No.")], mode=Mode.PLAN)
    with at_work(plan, Person()) as two:
        two.say((Text("go"),))
        asyncio.run(two.run())
    assert not (project / "new.txt").exists()


def test_it_starts_no_others_and_kinds_have_their_tools_alone(options, script) -> None:
    says, calls = script
    given = options(
        [calls(agent("c1", kind="explore")), calls(agent("c2", kind="none")), says("Done.")],
        [calls(agent("c1")), calls(("c2", "write", '{"path": "n", "content": ""}')), says("ok")],
    )
    with at_work(given, Person()) as one:
        one.say((Text("go"),))
        asyncio.run(one.run())
        inner = [r.event.event for r in one.recorder.journal.read() if isinstance(r.event, events.Within)]
        assert [told[:20] for _, told in results(History(inner))] == [
            "There is no tool 'ag",
            "There is no tool 'wr",
        ]
        assert "no kind 'none'" in results(one.history)[1][1]


def test_limits_count_together(options, script) -> None:
    _, calls = script
    reads = [calls((f"c{n}", "read", f'{{"path": "a.txt", "first": {n + 1}}}')) for n in range(9)]
    given = options([calls(agent("c1"))], reads, limits=Limits(turns=4))
    with at_work(given, Person()) as one:
        one.say((Text("go"),))
        assert asyncio.run(one.run()) is State.FAILED
        assert one.turns == 4 and "limit of turns" in results(one.history)[0][1]


def test_cancelled_it_ends_and_can_go_on_with_all_that_it_knew(options, script) -> None:
    says, calls = script

    def stop() -> None:
        loop.call_soon_threadsafe(task.cancel)

    slow = [says("half")[0], stop, *([lambda: time.sleep(0.05)] * 1000)]
    given = options([calls(agent("c1"))], [calls(READ), slow])
    with at_work(given, Person()) as one:
        one.say((Text("go"),))
        loop = asyncio.new_event_loop()
        task = loop.create_task(one.run())
        with pytest.raises(asyncio.CancelledError):
            loop.run_until_complete(task)
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
        ((outcome, told),) = results(one.history)
        session = one.recorder.journal.id
    assert outcome == "cancelled" and "`resume` lets it go on" in told
    id = told.split("This was ")[1].split(";")[0]
    again = options(
        [calls(agent("c2", resume=id)), says("Done.")], [says("As I read: hello.")], session=session
    )
    with at_work(again, Person()) as two:
        two.say((Text("go on"),))
        asyncio.run(two.run())
        assert results(two.history)[-1][1].startswith("As I read: hello.")


def test_killed_in_its_midst_the_session_opens_and_names_it(options, script, project: Path) -> None:
    says, _ = script
    with Journal.create(project) as journal:
        for event in (
            talk.Spoken(id="u", parts=(Text("go"),)),
            talk.ModelAsked(id="a", model="stand/in"),
            talk.PartCame(ask="a", part=Call("c1", "agent", "{}")),
            talk.ModelAnswered(ask="a", stop="calls"),
            talk.AgentBegun(id="agent-9", call="c1"),
            events.Within(agent="agent-9", event=talk.Spoken(id="x", parts=(Text("task"),))),
        ):
            journal.append(event)
    with at_work(options([says("I see.")], session=folders()[0].name), Person()) as one:
        one.say((Text("go on"),))
        assert asyncio.run(one.run()) is State.DONE
        ((outcome, told),) = results(one.history)
    assert outcome == str(Outcome.UNKNOWN) and "agent-9" in told


def test_a_plan_that_is_approved_changes_the_mode_and_the_prefix_stays(
    options, script, project: Path
) -> None:
    says, calls = script
    plan = calls(("c1", "plan", '{"plan": "1. write it"}'))
    write = calls(("c2", "write", '{"path": "new.txt", "content": "x"}'))
    person = Person(answer="don't ask inside the sandbox")
    with at_work(options([plan, write, says("Done.")], mode=Mode.PLAN), person) as one:
        one.say((Text("plan it"),))
        assert asyncio.run(one.run()) is State.DONE
        assert one.history.chosen["mode"] == "auto"
        first, second, _ = one.provider.asked
    assert (project / "new.txt").read_text() == "x" and person.asked == ["Go ahead with this plan?"]
    assert second.turns[: len(first.turns)] == first.turns and second.system == first.system
    no = Person(answer="no: shorter")
    with at_work(options([plan, says("ok")], mode=Mode.PLAN), no) as two:
        two.say((Text("plan it"),))
        asyncio.run(two.run())
        assert two.history.chosen["mode"] == "plan" and "They say: shorter" in results(two.history)[0][1]
