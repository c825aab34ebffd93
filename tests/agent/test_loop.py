from __future__ import annotations

import pytest

from deskagent.agent import loop
from deskagent.agent.loop import FINAL, TRANSITIONS, State


def test_every_state_is_reached_and_left() -> None:
    for state in State:
        assert state is State.OBSERVE or any(t.target is state for t in TRANSITIONS)
        assert any(t.source is state for t in TRANSITIONS) is (state not in FINAL)


def test_the_table_is_a_function() -> None:
    assert len({(t.source, t.event) for t in TRANSITIONS}) == len(TRANSITIONS)


def test_a_red_candidate_goes_back_to_plan() -> None:
    acts = iter(["red", "green"])
    handlers = {
        State.OBSERVE: lambda: "failure_seen",
        State.PLAN: lambda: "places_found",
        State.ACT: lambda: next(acts),
        State.VERIFY: lambda: "proved",
    }
    seen: list[State] = []
    assert loop.run(handlers, on_change=lambda old, new, event: seen.append(new)) is State.DONE
    assert seen == [State.PLAN, State.ACT, State.PLAN, State.ACT, State.VERIFY, State.DONE]


def test_an_unknown_event_names_the_known_ones() -> None:
    with pytest.raises(loop.UnknownTransition, match=r"observe.*failure_seen"):
        loop.next_state(State.OBSERVE, "nonsense")


def test_the_table_prints_every_transition() -> None:
    assert len(loop.table().splitlines()) == len(TRANSITIONS)
