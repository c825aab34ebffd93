"""The loop: observe → plan → act → verify as an explicit state machine whose transitions are data.

A workflow gives one handler a state. A handler does the state's work and returns the name of what happened;
the table below alone says where that leads. `python -m deskagent.agent.loop` prints the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """Where a piece of work stands. DONE and FAILED are final."""

    OBSERVE = "observe"
    PLAN = "plan"
    ACT = "act"
    VERIFY = "verify"
    DONE = "done"
    FAILED = "failed"


FINAL = frozenset({State.DONE, State.FAILED})


@dataclass(frozen=True)
class Transition:
    """`source` --`event`--> `target`."""

    source: State
    event: str
    target: State


TRANSITIONS: tuple[Transition, ...] = (
    Transition(State.OBSERVE, "failure_seen", State.PLAN),
    Transition(State.OBSERVE, "all_green", State.DONE),
    Transition(State.OBSERVE, "limit", State.FAILED),
    Transition(State.PLAN, "places_found", State.ACT),
    Transition(State.PLAN, "nothing_left", State.FAILED),
    Transition(State.PLAN, "all_green", State.DONE),
    Transition(State.PLAN, "limit", State.FAILED),
    Transition(State.ACT, "green", State.VERIFY),
    Transition(State.ACT, "red", State.PLAN),
    Transition(State.ACT, "limit", State.FAILED),
    Transition(State.VERIFY, "proved", State.DONE),
    Transition(State.VERIFY, "refuted", State.PLAN),
    Transition(State.VERIFY, "limit", State.FAILED),
    # a conversation: what is new, the model's answer, its calls, whether that is all
    Transition(State.OBSERVE, "asked", State.PLAN),
    Transition(State.OBSERVE, "nothing_asked", State.DONE),
    Transition(State.OBSERVE, "stuck", State.FAILED),
    Transition(State.PLAN, "calls", State.ACT),
    Transition(State.PLAN, "answered", State.VERIFY),
    Transition(State.PLAN, "cut", State.OBSERVE),
    Transition(State.PLAN, "gave_up", State.FAILED),
    Transition(State.ACT, "results", State.OBSERVE),
    Transition(State.VERIFY, "more", State.OBSERVE),
    Transition(State.VERIFY, "finished", State.DONE),
)

_TARGETS: Mapping[tuple[State, str], State] = {(t.source, t.event): t.target for t in TRANSITIONS}


class UnknownTransition(RuntimeError):
    """A handler reported an event that its state doesn't have: a fault in the workflow."""


def next_state(state: State, event: str) -> State:
    """Where `event` leads from `state`."""
    try:
        return _TARGETS[state, event]
    except KeyError:
        known = ", ".join(t.event for t in TRANSITIONS if t.source is state) or "none: the state is final"
        raise UnknownTransition(f"state {state} has no event {event!r} (known: {known})") from None


def run(
    handlers: Mapping[State, Callable[[], str]],
    *,
    start: State = State.OBSERVE,
    on_change: Callable[[State, State, str], None] = lambda old, new, event: None,
) -> State:
    """Runs `handlers` from `start` until a final state and returns it. `on_change` sees every transition."""
    state = start
    while state not in FINAL:
        event = handlers[state]()
        following = next_state(state, event)
        on_change(state, following, event)
        state = following
    return state


def table() -> str:
    """The transitions as text, a line each."""
    width = max(len(t.source) for t in TRANSITIONS)
    return "\n".join(f"{t.source:<{width}} --{t.event}--> {t.target}" for t in TRANSITIONS)


if __name__ == "__main__":
    print(table())
