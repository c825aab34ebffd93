"""Sampling: exact cuts, exact chances, ties to the lowest id, draws that nothing but the request decides."""

from __future__ import annotations

import math
from collections import Counter

import pytest

torch = pytest.importorskip("torch")
import numpy as np  # noqa: E402
from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from engine.errors import EngineError, RequestError  # noqa: E402
from engine.generate.cuts import draw, first, kept, ordered  # noqa: E402
from engine.generate.sample import GREEDY, Sampling, Seen, choose, logprob, penalise, uniform  # noqa: E402

LOGITS = st.lists(st.sampled_from([-3.0, -1.0, 0.0, 0.5, 2.0, 2.5]), min_size=1, max_size=40)


def row(logits) -> np.ndarray:
    return np.array(logits, np.float32)


def by_hand(logits: list[float], sampling: Sampling) -> dict[int, float]:
    """The cuts in plain Python."""
    best = max(logits)
    chances = {number: math.exp((value - best) / sampling.temperature) for number, value in enumerate(logits)}
    chances = {number: chance for number, chance in chances.items() if chance >= sampling.min_p - 1e-12}
    order = sorted(chances, key=lambda number: (-chances[number], number))
    if sampling.top_k:
        order = order[: sampling.top_k]
    total, found, left = sum(chances[number] for number in order), 0.0, []
    for number in order:
        if left and found >= sampling.top_p * total - 1e-12:
            break
        left.append(number)
        found += chances[number]
    return {number: chances[number] / found for number in left}


@settings(max_examples=50, deadline=None)
@given(
    logits=LOGITS,
    temperature=st.sampled_from([0.3, 1.0, 2.0]),
    top_k=st.integers(0, 10),
    top_p=st.sampled_from([0.13, 0.57, 0.91, 1.0]),
    min_p=st.sampled_from([0.0, 0.07, 0.41]),
)
def test_cuts_are_those_of_plain_python(logits, temperature, top_k, top_p, min_p) -> None:
    sampling = Sampling(temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p)
    ids, chances = kept(row(logits), max(logits), temperature, top_k, top_p, min_p)
    expected = by_hand(logits, sampling)
    assert list(ids) == sorted(expected)
    np.testing.assert_allclose(chances / chances.sum(), [expected[n] for n in sorted(expected)], rtol=1e-12)


def test_draws_follow_the_chances() -> None:
    logits = row([1.0, 0.0, 2.0, -40.0, 1.0])
    draws = 4000
    counts = Counter(choose(logits, Sampling(seed=n), Seen(), 0) for n in range(draws))
    for token, chance in enumerate(torch.from_numpy(logits).softmax(-1).tolist()):
        spread = math.sqrt(chance * (1 - chance) / draws)
        assert abs(counts[token] / draws - chance) < 5 * spread + 1e-6


def test_draws_depend_on_seed_and_place_alone() -> None:
    draws = [uniform(seed, index) for seed in range(50) for index in range(50)]
    assert len(set(draws)) == 2500
    assert uniform(3, 7) == uniform(3, 7)
    assert uniform(2**64 - 1, 2**40) < 1
    assert abs(sum(draws) / 2500 - 0.5) < 0.03


@given(logits=LOGITS)
def test_greedy_takes_the_lowest_of_equals(logits) -> None:
    assert choose(row(logits), GREEDY, Seen(), 0) == logits.index(max(logits))
    assert choose(row(logits), Sampling(top_k=1, seed=5), Seen(), 0) == logits.index(max(logits))


def test_penalties_are_the_published_ones() -> None:
    seen = Seen([0, 1, 0])
    for token in (1, 1, 2):
        seen.add(token)
    sampling = Sampling(repetition=2.0, presence=0.5, frequency=0.25)
    before = row([4.0, -1.0, 3.0, 5.0])
    assert penalise(before, sampling, seen).tolist() == [2.0, -3.0, 0.75, 5.0]
    assert before.tolist() == [4.0, -1.0, 3.0, 5.0], "the caller's logits stay"


def test_a_mask_holds_at_every_temperature() -> None:
    logits = row([5.0, 1.0, 4.0, 0.0])
    allowed = np.array([False, True, False, True])
    assert choose(logits, GREEDY, Seen(), 0, allowed) == 1
    drawn = {choose(logits, Sampling(temperature=9.0, seed=n), Seen(), 0, allowed) for n in range(60)}
    assert drawn == {1, 3}


def test_nothing_to_choose_is_an_error() -> None:
    for logits in (row([-math.inf] * 4), row([0.0, math.nan])):
        with pytest.raises(EngineError, match="no token can follow"):
            choose(logits, Sampling(), Seen(), 0)
    with pytest.raises(EngineError):
        choose(row([0.0] * 3), Sampling(), Seen(), 0, np.zeros(3, np.bool_))


def test_logprobs_are_the_models_own() -> None:
    logits = row([1.0, 3.0, 3.0, 0.0])
    told = logprob(logits, 3, 3)
    logs = torch.from_numpy(logits).log_softmax(-1).tolist()
    assert told.token == logs[3]
    assert told.best == ((1, logs[1]), (2, logs[2]), (0, logs[0]))
    assert logprob(logits, 0, 0).best == ()


def test_what_was_seen_is_counted_however_much() -> None:
    seen, told = Seen([5, 3, 5]), [number * number % 311 for number in range(2000)]
    for token in told:
        seen.add(token)
    counts = dict(zip(seen.ids.tolist(), seen.counts.tolist(), strict=True))
    assert counts == {5: 0, 3: 0} | Counter(told)


BIG = st.tuples(
    st.integers(1, 40_000), st.integers(0, 2**32 - 1), st.sampled_from([0.01, 0.3, 2.0, 8.0, 60.0]),
    st.sampled_from([0, 1, 3]),
)  # fmt: skip
"""How many logits, their seed, how far they spread, and to how many digits they are rounded, for ties."""


def big(size: int, seed: int, spread: float, digits: int) -> np.ndarray:
    normal = np.random.default_rng(seed).standard_normal(size) * spread
    return row(normal.round(digits))


@settings(max_examples=60, deadline=None)
@given(shape=BIG, count=st.integers(1, 3000))
def test_the_first_are_those_of_a_sort(shape, count) -> None:
    values = big(*shape)
    found = first(values, count)
    expected = np.argsort(-values, kind="stable")[:count]
    assert found.tolist() == sorted(expected.tolist())
    assert ordered(values, found).tolist() == expected.tolist()


@settings(max_examples=60, deadline=None)
@given(
    shape=BIG,
    temperature=st.sampled_from([0.2, 1.0, 30.0]),
    top_k=st.sampled_from([0, 1, 40, 5000]),
    top_p=st.sampled_from([1e-9, 0.31, 0.93, 0.9999, 1.0]),
    min_p=st.sampled_from([0.0, 1e-9, 0.02]),
)
def test_cuts_of_a_big_vocabulary_are_those_of_a_sort(shape, temperature, top_k, top_p, min_p) -> None:
    values = big(*shape)
    best = float(values.max())
    ids, chances = kept(values, best, temperature, top_k, top_p, min_p)
    whole = np.exp((values.astype(np.float64) - best) / temperature)
    order = np.argsort(-values, kind="stable")
    order = order[whole[order] >= min_p][: top_k or None]
    sums = whole[order].cumsum()
    count = len(order) if top_p == 1 else int((sums - whole[order] < top_p * sums[-1]).sum())
    ids, expected = list(ids), order[: max(count, 1)].tolist()
    assert len(set(ids)) == len(ids)
    if ids != sorted(expected):  # the sums were rounded differently: such a chance decides nothing
        assert whole[list(set(ids) ^ set(expected))].sum() < 1e-12 * whole.sum()
    assert np.array_equal(chances, whole[ids])


@settings(max_examples=60, deadline=None)
@given(shape=BIG, share=st.floats(0, 1, exclude_max=True), every=st.integers(1, 5))
def test_a_draw_is_where_the_running_sum_passes(shape, share, every) -> None:
    chances = np.exp(big(*shape).astype(np.float64) / 60)
    chances[np.arange(len(chances)) % every > 0] = 0
    for goal in (share, 0.0, 1 - 2.0**-53):
        place = draw(chances, goal)
        assert chances[place] > 0
        whole = math.fsum(chances)
        before = math.fsum(chances[:place])
        assert before / whole <= goal + 1e-12
        assert (before + chances[place]) / whole >= goal - 1e-12


def test_tokens_without_a_chance_are_never_drawn() -> None:
    logits = row([-math.inf] * 3000)
    logits[1234] = -7.5
    for sampling in (
        Sampling(),
        Sampling(top_k=40),
        Sampling(top_p=0.999),
        Sampling(temperature=5e-324, min_p=0.1),
    ):
        assert choose(logits, sampling, Seen(), 0) == 1234


@pytest.mark.parametrize(
    "wrong",
    [
        {"temperature": -1}, {"temperature": math.nan}, {"top_p": 0}, {"top_p": 1.5}, {"top_k": -1}, {"min_p": 2},
        {"repetition": 0}, {"seed": -1}, {"seed": 2**64}, {"logprobs": 65}, {"frequency": math.inf},
    ],
)  # fmt: skip
def test_numbers_out_of_range_are_refused(wrong) -> None:
    with pytest.raises(RequestError, match=next(iter(wrong))):
        Sampling(**wrong)
