"""What kind of work the next answer of a model is, read from what it gets to see.

The kind decides the thinking tier (`agent.budget`). Changing the tier has a price where a server keeps the effort in
front of the conversation: its cache of the prefix is lost. `weigh` sets that against what a lower tier saves.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deskagent.agent.budget import StepType, Tier
from deskagent.messages import Answer, Outcome, Text, Turn, Used

EDITS = frozenset({"edit", "patch", "write"})
RUNS = frozenset({"terminal", "job", "repair"})
LOOKS = frozenset({"read", "glob", "grep", "symbols", "git", "image", "log"})
PLANS = frozenset({"todo", "ask"})

_OF_TOOLS: tuple[tuple[frozenset[str], StepType], ...] = (
    (RUNS, StepType.PARSE_OUTPUT),
    (EDITS, StepType.CODE_PATCH),
    (LOOKS, StepType.MULTI_HOP_RETRIEVAL),
    (PLANS, StepType.CODE_PATCH),
)
"""Tools whose results an answer follows → what it is then: the first row that any of them is in."""
_FAILED = re.compile(r"\(exit \d+, [^\n]*\)\Z")
"""The end of a command's result where its exit code wasn't 0, see `tools.terminal`."""


def step_after(turns: Sequence[Turn]) -> StepType:
    """What the next answer does. After something new was said it is a plan; after results, what they are results of;
    where one of them failed, a search for the cause."""
    last = turns[-1] if turns else None
    if not isinstance(last, Answer) or not last.used:
        return StepType.PLAN
    if any(map(_failed, last.used)):
        return StepType.ROOT_CAUSE
    names = {used.call.name for used in last.used}
    return next((step for tools, step in _OF_TOOLS if names & tools), StepType.MULTI_HOP_RETRIEVAL)


def _failed(used: Used) -> bool:
    told = used.result.content[-1:]
    exited = any(isinstance(part, Text) and _FAILED.search(part.text) for part in told)
    return used.result.outcome is not Outcome.DONE or exited


@dataclass(frozen=True, slots=True)
class Prefix:
    """What a change of tier would cost. tokens: of the conversation so far, that the server has in its cache under the
    tier of before. moves: whether the server keeps the effort in front, so that a change loses them."""

    tokens: int = 0
    moves: bool = False


THINKING: Mapping[Tier, int] = {Tier.LOW: 300, Tier.HIGH: 1500, Tier.MAX: 5000}
"""Tokens of thinking that a step takes at a tier, roughly."""
_DEARER = 10
"""So many times as long as reading a token of a prompt anew takes writing one."""


def weigh(wanted: Tier, before: Tier | None, prefix: Prefix) -> Tier:
    """The tier to ask with: `wanted`, or that of before where it does as well and a change would cost more than it
    saves. More thinking than before is never refused."""
    if before is None or not prefix.moves or wanted is before:
        return wanted
    saved = THINKING[before] - THINKING[wanted]
    return before if 0 <= saved * _DEARER < prefix.tokens else wanted
