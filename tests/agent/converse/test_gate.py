"""What is asked, of whom, and what an answer then stands for."""

from __future__ import annotations

import pytest

from deskagent.agent.converse.acting import Verdict
from deskagent.agent.converse.gate import ALWAYS, NO, ONCE, SESSION, Gate
from deskagent.agent.converse.rules import Rule, Rules
from deskagent.agent.front import Question
from deskagent.agent.permissions import Mode
from deskagent.terminal.types import Rung
from deskagent.tools import shell
from deskagent.tools.base import Effect, Wish


class Person:
    def __init__(self, *answers: str) -> None:
        self.answers, self.asked, self.choices = list(answers), [], []

    def __call__(self, question: Question, choices: tuple[str, ...]) -> str:
        self.asked.append(question.subject)
        self.choices.append(choices)
        return self.answers.pop(0)


def gate(
    mode: Mode = Mode.ASK,
    person: Person | None = None,
    *,
    rung: Rung = Rung.BWRAP,
    rules: Rules | None = None,
    saved=None,
):
    kept = [] if saved is None else saved
    return Gate(mode, rung, rules or Rules(), person is not None, person or Person(), kept.append)


def wish(effect: Effect, subject: str = "x") -> Wish:
    found = shell.read(subject)
    return Wish(
        effect,
        subject,
        f"{effect}:{subject}",
        commands=found.commands if effect is Effect.RUN and found.clear else (),
    )


ALLOWED = {
    Mode.PLAN: {Effect.READ, Effect.NONE, Effect.RUN},
    Mode.ASK: {Effect.READ, Effect.NONE},
    Mode.AUTO: {Effect.READ, Effect.NONE, Effect.WRITE, Effect.RUN},
    Mode.FULL: set(Effect),
}


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("effect", Effect)
def test_what_goes_without_asking_where_nobody_can_be_asked(mode: Mode, effect: Effect) -> None:
    allowed = gate(mode).decide("tool", wish(effect)).verdict is Verdict.ALLOW
    assert allowed == (effect in ALLOWED[mode])


@pytest.mark.parametrize("mode", [Mode.PLAN, Mode.ASK, Mode.AUTO])
def test_without_a_sandbox_no_command_runs_unasked(mode: Mode) -> None:
    decision = gate(mode, rung=Rung.NONE).decide("terminal", wish(Effect.RUN))
    assert decision.verdict is Verdict.DENY and "bubblewrap" in decision.why


def test_a_plan_changes_nothing_whoever_says_so() -> None:
    person = Person(ONCE)
    decision = gate(Mode.PLAN, person, rules=Rules.parse(allow=["edit"])).decide("edit", wish(Effect.WRITE))
    assert decision.verdict is Verdict.DENY and person.asked == []


def test_a_plan_runs_nothing_without_a_sandbox_whoever_says_so() -> None:
    person = Person(ONCE)
    rules = Rules.parse(allow=["terminal"])
    decision = gate(Mode.PLAN, person, rung=Rung.NONE, rules=rules).decide("terminal", wish(Effect.RUN, "ls"))
    assert decision.verdict is Verdict.DENY and person.asked == []


def test_an_answer_holds_once_or_for_the_session_for_the_same_alone() -> None:
    person = Person(ONCE, SESSION, NO)
    one = gate(person=person)
    for _ in range(3):
        assert one.decide("terminal", wish(Effect.RUN, "ls")).verdict is Verdict.ALLOW
    assert one.decide("terminal", wish(Effect.RUN, "rm x")).verdict is Verdict.DENY
    assert person.asked == ["ls", "ls", "rm x"]


def test_always_is_kept_as_a_rule_that_is_as_narrow_as_what_was_asked() -> None:
    saved: list[Rule] = []
    person = Person(ALWAYS)
    one = gate(person=person, saved=saved)
    one.decide("terminal", wish(Effect.RUN, "make test"))
    assert [str(rule) for rule in saved] == ["terminal(make test)"]
    assert one.decide("terminal", wish(Effect.RUN, "make test")).verdict is Verdict.ALLOW
    assert person.choices[0] == (ONCE, SESSION, ALWAYS, NO)


def test_what_no_rule_could_say_is_not_offered_for_always() -> None:
    person = Person(NO, NO)
    one = gate(person=person)
    one.decide("terminal", wish(Effect.RUN, "ls $(id)"))
    one.decide("edit", wish(Effect.WRITE))
    assert all(ALWAYS not in choices for choices in person.choices)


def test_a_no_may_come_with_words_for_the_model() -> None:
    decision = gate(person=Person("no: use the other file")).decide("edit", wish(Effect.WRITE))
    assert decision.why == "The person said no. They say: use the other file"


def test_rules_go_before_the_mode_and_deny_before_all() -> None:
    rules = Rules.parse(allow=["terminal(ls)"], ask=["read"], deny=["terminal(rm *)"])
    person = Person(ONCE)
    one = gate(Mode.FULL, person, rules=rules)
    assert one.decide("terminal", wish(Effect.RUN, "rm x")).verdict is Verdict.DENY
    assert one.decide("read", wish(Effect.READ)).verdict is Verdict.ALLOW and person.asked == ["x"]
    assert gate(rules=rules).decide("terminal", wish(Effect.RUN, "ls")).by == "rule terminal(ls)"


def test_a_page_may_be_asked_for_in_plan_mode_and_a_servers_tool_may_not() -> None:
    person = Person(ONCE)
    one = gate(Mode.PLAN, person)
    page = Wish(Effect.NETWORK, "GET https://a.example/", "fetch:a.example", host="a.example")
    assert one.decide("fetch", page).verdict is Verdict.ALLOW and person.asked == [page.subject]
    assert one.decide("mcp__small__add", wish(Effect.OUTSIDE)).verdict is Verdict.DENY


@pytest.mark.parametrize(
    ("tool", "asked", "rule"),
    [
        ("fetch", Wish(Effect.NETWORK, "GET", "k", host="a.example"), "fetch(a.example)"),
        ("mcp__small__add", Wish(Effect.OUTSIDE, "add", "k"), "mcp__small__add"),
    ],
)
def test_always_holds_for_a_host_or_for_a_servers_tool(tool: str, asked: Wish, rule: str) -> None:
    saved: list[Rule] = []
    gate(person=Person(ALWAYS), saved=saved).decide(tool, asked)
    assert [str(each) for each in saved] == [rule]
