from __future__ import annotations

import pytest

from deskagent.agent.budget import StepType, Tier
from deskagent.agent.costs import as_dicts, by_tier, line, table
from deskagent.agent.recorder import Step
from deskagent.providers.base import Price, Usage
from deskagent.providers.catalog import Entry

PRICE = Price(prompt=2.0, cached=0.5, output=10.0)


def step(tier: Tier, thinking: int = 0, usd: float = 0.0) -> Step:
    tokens = {"prompt": 1000, "cached": 800, "thinking": thinking, "output": thinking + 50}
    return Step("s", StepType.PLAN, tier, tokens=tokens, cost_usd=usd)


@pytest.mark.parametrize(
    ("price", "usage", "usd"),
    [
        (PRICE, Usage(prompt=1_000_000, cached=600_000, output=100_000), 0.8 + 0.3 + 1.0),
        (Price(2.0, 0.0, 10.0), Usage(prompt=1_000_000, cached=600_000), 2.0),
        (PRICE, Usage(prompt=1_000_000, cost=0.01), 0.01),
        (Price(), Usage(prompt=1_000_000, output=5), 0.0),
    ],
)
def test_what_tokens_cost(price: Price, usage: Usage, usd: float) -> None:
    assert price.of(usage) == pytest.approx(usd)


def test_an_entry_of_the_catalogue_brings_its_price() -> None:
    entry = Entry("generic", "http://localhost:1/v1", prompt=2.0, cached=0.5, written=10.0)
    assert entry.endpoint("local/m").capabilities.price == PRICE


def test_costs_by_tier_and_what_was_saved_against_max() -> None:
    steps = [
        step(Tier.HIGH, 1500, 0.2),
        step(Tier.LOW, 100, 0.1),
        step(Tier.LOW, 200, 0.1),
        Step("x", StepType.PLAN, Tier.MAX),
    ]
    low, high = by_tier(steps, PRICE)
    assert (low.tier, low.asks, low.prompt, low.cached, low.usd) == ("low", 2, 2000, 1600, 0.2)
    assert (low.saved, high.saved) == (2 * 5000 - 300, 5000 - 1500)
    assert low.saved_usd == pytest.approx(9700 * 10 / 1e6)
    assert as_dicts([low])[0]["saved_usd"] == 0.097
    assert "some 13200 tokens of thinking were saved, about US $ 0.1320" in table([low, high])
    assert (
        line([low, high]) == "3 requests, 3000 tokens read (2400 from the cache), 1950 written, US $ 0.4000"
    )


def test_what_max_took_here_is_the_better_guess() -> None:
    rows = by_tier([step(Tier.LOW, 100), *(step(Tier.MAX, 1000) for _ in range(3))], Price())
    assert [(row.tier, row.saved, row.saved_usd) for row in rows] == [("low", 900, 0.0), ("max", 0, 0.0)]
    assert by_tier([], PRICE) == [] and table([]) == line([]) == ""
