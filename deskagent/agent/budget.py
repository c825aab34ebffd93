"""How much effort a step gets: step types, thinking tiers and the limits that a tier means for a search."""

from __future__ import annotations

from enum import StrEnum

from deskagent.repair.budget import Limits


class Tier(StrEnum):
    """A thinking tier, the least first."""

    LOW = "low"
    HIGH = "high"
    MAX = "max"


class StepType(StrEnum):
    """What kind of work a step is. The policy maps it to a tier."""

    PARSE_OUTPUT = "parse_output"
    FORMAT_JSON = "format_json"
    SIMPLE_LOOKUP = "simple_lookup"
    CODE_PATCH = "code_patch"
    SUMMARIZE_DOCS = "summarize_docs"
    PLAN = "plan"
    ROOT_CAUSE = "root_cause"
    MULTI_HOP_RETRIEVAL = "multi_hop_retrieval"
    CAD_PARAMETERS = "cad_parameters"


_TIERS: dict[StepType, Tier] = {
    StepType.PARSE_OUTPUT: Tier.LOW,
    StepType.FORMAT_JSON: Tier.LOW,
    StepType.SIMPLE_LOOKUP: Tier.LOW,
    StepType.CODE_PATCH: Tier.HIGH,
    StepType.SUMMARIZE_DOCS: Tier.HIGH,
}

_ORDER = (Tier.LOW, Tier.HIGH, Tier.MAX)


def pick_budget(
    step: StepType, *, effort: str = "auto", cap: Tier = Tier.MAX, failed_at: Tier | None = None
) -> Tier:
    """The tier for `step`.

    `effort` is "auto" (the policy) or a tier's name (which then holds for every step); `cap` is the highest
    tier allowed; a step that failed at `failed_at` is tried one tier above it.
    """
    tier = _TIERS.get(step, Tier.MAX) if effort == "auto" else Tier(effort)
    if failed_at is not None:
        above = _ORDER[min(_ORDER.index(failed_at) + 1, len(_ORDER) - 1)]
        tier = max(tier, above, key=_ORDER.index)
    return min(tier, cap, key=_ORDER.index)


SEARCH_LIMITS: dict[Tier, Limits] = {
    Tier.LOW: Limits(50, 20.0),
    Tier.HIGH: Limits(200, 60.0),
    Tier.MAX: Limits(1000, 300.0),
}
"""What a repair search may use in all by the end of each tier."""


def climb(effort: str) -> tuple[Tier, ...]:
    """The tiers that a search goes through: all of them for "auto", else the named one."""
    return _ORDER if effort == "auto" else (Tier(effort),)
