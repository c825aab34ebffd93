from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskagent.agent.budget import SEARCH_LIMITS, StepType, Tier, climb, pick_budget
from deskagent.repair.budget import Budget, Limits

ORDER = list(Tier)


@pytest.mark.parametrize(
    ("step", "tier"),
    [
        (StepType.PARSE_OUTPUT, Tier.LOW),
        (StepType.FORMAT_JSON, Tier.LOW),
        (StepType.SIMPLE_LOOKUP, Tier.LOW),
        (StepType.CODE_PATCH, Tier.HIGH),
        (StepType.SUMMARIZE_DOCS, Tier.HIGH),
        (StepType.PLAN, Tier.MAX),
        (StepType.ROOT_CAUSE, Tier.MAX),
        (StepType.MULTI_HOP_RETRIEVAL, Tier.MAX),
        (StepType.CAD_PARAMETERS, Tier.MAX),
    ],
)
def test_the_policy(step: StepType, tier: Tier) -> None:
    assert pick_budget(step) is tier


@given(
    st.sampled_from(StepType),
    st.sampled_from(["auto", *Tier]),
    st.sampled_from(Tier),
    st.none() | st.sampled_from(Tier),
)
def test_a_tier_is_capped_and_a_failed_one_is_never_tried_twice(
    step: StepType, effort: str, cap: Tier, failed: Tier | None
) -> None:
    tier = pick_budget(step, effort=effort, cap=cap, failed_at=failed)
    assert ORDER.index(tier) <= ORDER.index(cap)
    if failed is not None and failed is not Tier.MAX and ORDER.index(failed) < ORDER.index(cap):
        assert ORDER.index(tier) > ORDER.index(failed)


def test_auto_climbs_and_a_named_tier_stays() -> None:
    assert climb("auto") == (Tier.LOW, Tier.HIGH, Tier.MAX)
    assert climb("high") == (Tier.HIGH,)
    assert [SEARCH_LIMITS[t].candidates for t in climb("auto")] == [50, 200, 1000]


def test_a_part_ends_with_the_whole() -> None:
    whole = Budget(Limits(candidates=3))
    part = whole.part(Limits(candidates=10))
    part.spend(2)
    assert (part.candidates_left, whole.candidates_left, part.exhausted) == (1, 1, False)
    whole.spend()
    assert part.exhausted


def test_seconds_run_out() -> None:
    assert Budget(Limits(seconds=0.0)).exhausted
    assert not Budget(Limits(seconds=60.0)).exhausted
