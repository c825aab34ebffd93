"""Products, norms, activations, residuals and the router, row by row."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from parity_cases import (  # noqa: E402
    ACTIVATIONS,
    BF16,
    DRAWN,
    EXACT,
    HALVED,
    IMPLEMENTATIONS,
    drawn,
    dtypes,
    each,
    rows,
    same,
    seeds,
    sizes,
    some,
    widths,
)

from kernels.dispatch import REFERENCE, Ops  # noqa: E402


@each
@some
@given(rows, widths, st.lists(st.integers(1, 40), min_size=1, max_size=3), dtypes, dtypes, seeds)
def test_linear(name, n, width, outs, dtype, of_weights, seed) -> None:
    x = drawn(seed, n, width, dtype=dtype)
    weights = [drawn(seed + out, out, width, dtype=of_weights) for out in outs]
    seen = x.to(BF16).to(dtype) if name in HALVED and of_weights is BF16 else x
    same(IMPLEMENTATIONS[name].linear(x, *weights), REFERENCE.linear(seen, *weights))


@pytest.mark.parametrize("name", [name for name in EXACT if name not in DRAWN])
@some
@given(rows, widths, dtypes, dtypes, seeds)
def test_linear_exactly(name, n, width, dtype, of_weights, seed) -> None:
    x, weight = drawn(seed, n, width, dtype=dtype), drawn(seed + 1, 21, width, dtype=of_weights)
    same(IMPLEMENTATIONS[name].linear(x, weight), REFERENCE.linear(x, weight))


@each
@some
@given(st.integers(1, 60), widths, st.integers(1, 700), dtypes, dtypes, st.integers(0, 99), seeds)
def test_log_likelihoods(name, n, width, vocab, dtype, of_weights, asked, seed) -> None:
    """Several tokens of some rows, none of others."""
    x, weight = drawn(seed, n, width, dtype=dtype), drawn(seed + 1, vocab, width, dtype=of_weights, size=0.3)
    generator = torch.Generator().manual_seed(seed)
    pairs = [torch.randint(0, most, (asked,), generator=generator) for most in (n, vocab)]
    seen = x.to(BF16).to(dtype) if name in HALVED and of_weights is BF16 else x
    expected = (seen.double() @ weight.double().T).log_softmax(-1)[pairs[0], pairs[1]].float()
    same(IMPLEMENTATIONS[name].loglik(x, weight, *pairs), expected, BF16 if name in DRAWN else None)
    same(REFERENCE.loglik(seen, weight, *pairs), expected, dtype)


@each
@some
@given(rows, widths, dtypes, dtypes, sizes, seeds)
def test_rows(name, n, width, dtype, other, size, seed) -> None:
    """Embedding, sum, norm, gates and activations."""
    ops: Ops = IMPLEMENTATIONS[name]
    one, two = (
        drawn(seed, n, width, dtype=dtype, size=size),
        drawn(seed + 1, n, width, dtype=dtype, size=size),
    )
    weight = drawn(seed + 2, width, dtype=other)
    tokens = torch.arange(n) * 7 % 11
    table = drawn(seed, 11, width, dtype=other)
    assert torch.equal(ops.embed(tokens, table, dtype), REFERENCE.embed(tokens, table, dtype))
    same(ops.add(one, two), REFERENCE.add(one, two))
    same(ops.rms_norm(one, weight, 1e-5), REFERENCE.rms_norm(one, weight, 1e-5))
    same(ops.rms_norm(one, None, 1e-5), REFERENCE.rms_norm(one, None, 1e-5))
    same(ops.gated(one, two), REFERENCE.gated(one, two))
    both = torch.cat([one, two], dim=1)
    for activation in ACTIVATIONS:
        same(ops.glu(both, activation), REFERENCE.glu(both, activation))


@each
@some
@given(rows, widths, st.integers(1, 9), dtypes, sizes, seeds)
def test_attention_residuals(name, n, width, count, dtype, size, seed) -> None:
    streams = [drawn(seed + j, n, width, dtype=dtype, size=size) for j in range(count)]
    score = drawn(seed, width)
    same(IMPLEMENTATIONS[name].attn_res(streams, score, 1e-5), REFERENCE.attn_res(streams, score, 1e-5))


@each
@some
@given(rows, st.integers(2, 70), st.integers(1, 20), dtypes, st.booleans(), st.booleans(), seeds)
def test_router(name, n, experts, k, dtype, biased, renormalise, seed) -> None:
    """On whole numbers, so that scores are exact and many are equal."""
    k = min(k, experts)
    whole = torch.Generator().manual_seed(seed)
    x, weight = (torch.randint(-1, 2, (count, 5), generator=whole).to(dtype) for count in (n, experts))
    bias = torch.randint(0, 3, (experts,), generator=whole).float() if biased else None
    ids, weights = IMPLEMENTATIONS[name].route(x, weight, bias, k, 2.5, renormalise)
    expected, of_expected = REFERENCE.route(x, weight, bias, k, 2.5, renormalise)
    assert torch.equal(ids, expected)
    same(weights, of_expected)
