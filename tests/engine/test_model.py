"""What must not change a model's answer: how a text is cut, with whom it is batched, where its pages lie."""

from __future__ import annotations

from itertools import pairwise

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

NAMES = ("kimi-linear", "k3", "k3.1")
LENGTH = 40
TOKENS = [(7 * n * n + 3 * n) % 97 for n in range(LENGTH)]
PAGES = list(range(4))


@pytest.fixture(scope="module")
def whole(runners):
    return {name: runners[name].run(runners[name].pools(), [(TOKENS, 0, 0, PAGES)]) for name in NAMES}


def close(one, two) -> None:
    torch.testing.assert_close(one, two, rtol=2e-5, atol=5e-5)


@settings(max_examples=6, deadline=None)
@given(name=st.sampled_from(NAMES), cuts=st.lists(st.integers(1, LENGTH - 1), max_size=5, unique=True))
def test_a_text_in_pieces_is_the_text(runners, whole, name, cuts) -> None:
    runner = runners[name]
    pools = runner.pools()
    edges = [0, *sorted(cuts), LENGTH]
    parts = [runner.run(pools, [(TOKENS[first:last], first, 0, PAGES)]) for first, last in pairwise(edges)]
    close(torch.cat(parts), whole[name])


@pytest.mark.parametrize("name", NAMES)
def test_token_by_token_is_the_text(runners, whole, name) -> None:
    runner = runners[name]
    pools = runner.pools()
    parts = [runner.run(pools, [([token], at, 0, PAGES)]) for at, token in enumerate(TOKENS)]
    close(torch.cat(parts), whole[name])


@settings(max_examples=5, deadline=None)
@given(name=st.sampled_from(NAMES), others=st.lists(st.integers(1, 40), min_size=1, max_size=3))
def test_company_in_a_batch_changes_nothing(runners, whole, name, others) -> None:
    runner = runners[name]
    pieces = [(TOKENS, 0, 3, [40, 2, 17, 5])]
    for slot, count in enumerate(others):
        pieces.insert(
            slot % 2,
            ([(n * 5 + slot) % 97 for n in range(count)], 0, slot, [20 + 3 * slot + n for n in range(3)]),
        )
    logits = runner.run(runner.pools(), pieces)
    first = sum(len(piece[0]) for piece in pieces[: [piece[2] for piece in pieces].index(3)])
    close(logits[first : first + LENGTH], whole[name])


@pytest.mark.parametrize("page", [1, 7, 64])
@pytest.mark.parametrize("name", NAMES)
def test_any_page_size_gives_the_same(runners, whole, name, page) -> None:
    from copy import copy

    runner = copy(runners[name])
    runner.page = page
    pages = list(reversed(range(-(-LENGTH // page))))
    assert torch.equal(runner.run(runner.pools(), [(TOKENS, 0, 1, pages)]), whole[name])


def test_the_indexer_leaves_tokens_out(runners, whole) -> None:
    """Past top-k the sparse answer differs from the dense one, before it not at all."""
    from dataclasses import replace

    from engine.model import Model

    runner = runners["k3.1"]
    dense = replace(runner.config, indexer=None)
    wide = Model(dense, runner.model.weights, runner.model.ops)
    sparse_model, runner.model = runner.model, wide
    try:
        logits = runner.run(runner.pools(), [(TOKENS, 0, 0, PAGES)])
    finally:
        runner.model = sparse_model
    torch.testing.assert_close(logits[:24], whole["k3.1"][:24], rtol=1e-5, atol=1e-5)
    assert (logits[30:] - whole["k3.1"][30:]).abs().max() > 1e-3
