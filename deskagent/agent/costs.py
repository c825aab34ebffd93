"""What a conversation's steps cost, by tier, and what that saved against thinking at max in every one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from deskagent.agent.budget import Tier
from deskagent.agent.converse.steps import THINKING
from deskagent.agent.recorder import Step
from deskagent.providers.base import Price

_ENOUGH = 3
"""Steps at max whose own mean is a better guess of what max takes than the usual one."""


@dataclass(frozen=True, slots=True)
class Row:
    """A tier's requests: tokens, US dollars. saved: tokens of thinking, roughly, that as many steps at max would have
    taken beyond theirs; saved_usd: what these would have cost."""

    tier: str
    asks: int = 0
    prompt: int = 0
    cached: int = 0
    thinking: int = 0
    output: int = 0
    usd: float = 0.0
    saved: int = 0
    saved_usd: float = 0.0


def by_tier(steps: Iterable[Step], price: Price) -> list[Row]:
    """A row a tier that was asked at, the lowest first. price: of the model in use, for what was saved."""
    asked = [step for step in steps if step.tokens]
    at_max = _at_max(asked)
    rows = []
    for tier in Tier:
        mine = [step for step in asked if step.tier is tier]
        if not mine:
            continue
        sums = {
            name: sum(s.tokens.get(name, 0) for s in mine)
            for name in ("prompt", "cached", "thinking", "output")
        }
        saved = 0 if tier is Tier.MAX else max(0, round(at_max * len(mine)) - sums["thinking"])
        usd = sum(step.cost_usd for step in mine)
        rows.append(
            Row(str(tier), len(mine), **sums, usd=usd, saved=saved, saved_usd=saved * price.output / 1e6)
        )
    return rows


def as_dicts(rows: Iterable[Row]) -> list[dict[str, Any]]:
    return [{**asdict(row), "usd": round(row.usd, 6), "saved_usd": round(row.saved_usd, 6)} for row in rows]


def table(rows: list[Row]) -> str:
    """For a person to read; "" where nothing was asked."""
    if not rows:
        return ""
    names = ("tier", "asks", "prompt", "cached", "thinking", "output", "US $")
    lines = [f"{names[0]:<6}" + "".join(f"{name:>10}" for name in names[1:])]
    for row in rows:
        counts = (row.asks, row.prompt, row.cached, row.thinking, row.output)
        lines.append(f"{row.tier:<6}" + "".join(f"{count:>10}" for count in counts) + f"{row.usd:>10.4f}")
    saved, usd = sum(row.saved for row in rows), sum(row.saved_usd for row in rows)
    if saved:
        money = f", about US $ {usd:.4f}" if usd else ""
        lines.append(f"Against max in every step some {saved} tokens of thinking were saved{money}.")
    return "\n".join(lines)


def line(rows: list[Row]) -> str:
    """The same in one line."""
    asks, prompt, cached = (sum(getattr(row, name) for row in rows) for name in ("asks", "prompt", "cached"))
    out, usd = sum(row.output for row in rows), sum(row.usd for row in rows)
    money = f", US $ {usd:.4f}" if usd else ""
    return (
        f"{asks} requests, {prompt} tokens read ({cached} from the cache), {out} written{money}"
        if asks
        else ""
    )


def _at_max(steps: list[Step]) -> float:
    """Tokens of thinking that a step at max takes: as it was here, else as it usually is."""
    seen = [step.tokens.get("thinking", 0) for step in steps if step.tier is Tier.MAX]
    return sum(seen) / len(seen) if len(seen) >= _ENOUGH else THINKING[Tier.MAX]
