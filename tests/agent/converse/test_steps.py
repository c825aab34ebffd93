"""What an answer's step is, and when a change of tier pays."""

from __future__ import annotations

import pytest

from deskagent.agent.budget import StepType, Tier
from deskagent.agent.converse.steps import Prefix, step_after, weigh
from deskagent.messages import Answer, Call, Outcome, Result, Said, Text, Used


def used(name: str, outcome: Outcome = Outcome.DONE) -> Answer:
    return Answer((Used(Call("1", name, "{}"), Result.of("x", outcome)),))


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("edit", StepType.CODE_PATCH),
        ("terminal", StepType.PARSE_OUTPUT),
        ("grep", StepType.MULTI_HOP_RETRIEVAL),
        ("some_mcp_tool", StepType.MULTI_HOP_RETRIEVAL),
    ],
)
def test_an_answer_to_results_is_what_these_are_results_of(name: str, step: StepType) -> None:
    assert step_after([used(name)]) is step


def test_what_failed_is_looked_into_and_what_is_new_is_planned() -> None:
    assert step_after([used("terminal", Outcome.FAILED)]) is StepType.ROOT_CAUSE
    assert step_after([used("edit"), Said((Text("and now?"),))]) is StepType.PLAN
    assert step_after([]) is StepType.PLAN


def test_a_command_that_ran_and_failed_is_looked_into_and_edits_that_were_run_are_read() -> None:
    failed = Answer((Used(Call("1", "terminal", "{}"), Result.of("1 failed\n(exit 1, 0.3 s)")),))
    assert step_after([failed]) is StepType.ROOT_CAUSE
    both = Answer((*used("edit").parts, *used("terminal").parts))
    assert step_after([both]) is StepType.PARSE_OUTPUT


def test_a_lower_tier_is_taken_where_it_saves_more_than_the_prefix_costs() -> None:
    assert weigh(Tier.LOW, Tier.MAX, Prefix(1_000, moves=True)) is Tier.LOW
    assert weigh(Tier.LOW, Tier.MAX, Prefix(200_000, moves=True)) is Tier.MAX
    assert weigh(Tier.LOW, Tier.MAX, Prefix(200_000, moves=False)) is Tier.LOW


def test_more_thinking_is_never_refused() -> None:
    assert weigh(Tier.MAX, Tier.LOW, Prefix(900_000, moves=True)) is Tier.MAX
    assert weigh(Tier.HIGH, None, Prefix(900_000, moves=True)) is Tier.HIGH
