"""Mixtures of experts, in MXFP4 and plain."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from parity_cases import (  # noqa: E402
    ACTIVATIONS,
    DRAWN,
    EXACT,
    IMPLEMENTATIONS,
    INT8,
    SITU,
    drawn,
    dtypes,
    each,
    same,
    seeds,
    sizes,
    some,
)

from kernels.dispatch import REFERENCE  # noqa: E402
from kernels.layout import Activation  # noqa: E402
from kernels.reference.glu import glu  # noqa: E402
from kernels.reference.mxfp4 import BLOCK, pack, unpack  # noqa: E402


def rounded(x):
    """Activations as the int8 kernels see them."""
    blocks = x.float().unflatten(-1, (-1, BLOCK))
    largest = blocks.abs().amax(-1, keepdim=True)
    there = largest > 1e-30
    steps = torch.round(blocks * torch.where(there, 127.0 / largest, torch.zeros(()))).nan_to_num()
    return (steps * torch.where(there, largest / 127.0, torch.zeros(()))).flatten(-2)


def by_int8(x, ids, weights, gate, up, down, activation):
    out = torch.zeros(x.shape)
    inside = rounded(x)
    for row in range(x.shape[0]):
        for expert, weight in zip(ids[row].tolist(), weights[row], strict=True):
            branches = [inside[row] @ unpack(part[0][expert], part[1][expert]).T for part in (gate, up)]
            hidden = rounded(glu(torch.cat(branches)[None], activation))
            out[row] += weight * (hidden @ unpack(down[0][expert], down[1][expert]).T)[0]
    return out


def made_experts(seed: int, experts: int, inner: int, width: int, scales: tuple[int, int] | None):
    parts = []
    for at, (out, into) in enumerate(((inner, width), (inner, width), (width, inner))):
        packed, exponents = pack(drawn(seed + at, experts, out, into, size=into**-0.5))
        if scales is not None and at < 2:
            generator = torch.Generator().manual_seed(seed)
            exponents = torch.randint(*scales, exponents.shape, generator=generator, dtype=torch.uint8)
        parts.append((packed, exponents))
    return parts


def chosen_experts(seed: int, n: int, experts: int, k: int):
    generator = torch.Generator().manual_seed(seed)
    order = torch.rand(n, experts, generator=generator).argsort(-1)[:, :k].int()
    return order, torch.rand(n, k, generator=generator)


blocks = st.integers(1, 19)


def fewer(name: str, *counts: int) -> tuple[int, ...]:
    """Blocks of 32 columns: up to 7 where each program of a grid is run by an interpreter."""
    return tuple((count - 1) % 7 + 1 for count in counts) if name in DRAWN else counts


groups = st.tuples(st.integers(0, 11), st.integers(1, 5), st.integers(1, 3))
extremes = st.sampled_from([None, (115, 135), (0, 4)])


@pytest.mark.parametrize("name", EXACT)
@some
@given(groups, blocks, blocks, extremes, st.sampled_from(ACTIVATIONS[:2]), dtypes, seeds)
def test_experts_exactly(name, group, inner, width, scales, activation, dtype, seed) -> None:
    n, experts, k = group
    inner, width = fewer(name, inner, width)
    ids, weights = chosen_experts(seed, n, experts, min(k, experts))
    parts = made_experts(seed, experts, inner * 32, width * 32, scales)
    x = drawn(seed, n, width * 32, dtype=dtype)
    expected = REFERENCE.experts(x, ids, weights, *parts, activation)
    same(IMPLEMENTATIONS[name].experts(x, ids, weights, *parts, activation), expected)
    some, onto = ids.where(ids > 0, -1), drawn(seed, n, width * 32)
    expected = REFERENCE.experts(x, some, weights, *parts, activation, onto.clone())
    same(IMPLEMENTATIONS[name].experts(x, some, weights, *parts, activation, onto), expected)


@pytest.mark.parametrize("name", INT8)
@some
@given(groups, blocks, blocks, st.sampled_from(ACTIVATIONS[:2]), sizes, seeds)
def test_experts_with_int8_activations(name, group, inner, width, activation, size, seed) -> None:
    n, experts, k = group
    ids, weights = chosen_experts(seed, n, experts, min(k, experts))
    parts = made_experts(seed, experts, inner * 32, width * 32, None)
    x = drawn(seed, n, width * 32, size=size)
    got = IMPLEMENTATIONS[name].experts(x, ids, weights, *parts, activation)
    alike = by_int8(x, ids, weights, *parts, activation)
    assert (got - alike).norm() <= 0.01 * alike.norm()
    if size <= 1:  # far larger ones only tell on which side of the activation's step they round
        expected = REFERENCE.experts(x, ids, weights, *parts, activation)
        assert (got - expected).norm() <= 0.03 * expected.norm()


@each
@some
@given(groups, blocks, blocks, dtypes, seeds)
def test_plain_experts(name, group, inner, width, dtype, seed) -> None:
    n, experts, k = group
    inner, width = fewer(name, inner, width)
    ids, weights = chosen_experts(seed, n, experts, min(k, experts))
    parts = [(drawn(seed + at, *part[0].shape[:2], part[0].shape[2] * 2, dtype=dtype),)
             for at, part in enumerate(made_experts(seed, experts, inner * 32, width * 32, None))]  # fmt: skip
    x = drawn(seed, n, width * 32, size=0.05)
    same(
        IMPLEMENTATIONS[name].experts(x, ids, weights, *parts, SITU),
        REFERENCE.experts(x, ids, weights, *parts, SITU),
    )


@pytest.mark.parametrize("name", list(IMPLEMENTATIONS))
@pytest.mark.parametrize("scale", [0, 1, 2, 127, 200])
def test_every_code_at_the_ends_of_the_scales(name, scale) -> None:
    """The scale 0 is 2^-127, a subnormal number that shifting the byte into an exponent would make a zero."""
    ids, weights = torch.zeros(1, 1, dtype=torch.int32), torch.ones(1, 1)
    ones = (torch.full((1, 32, 16), 0x22, dtype=torch.uint8), torch.full((1, 32, 1), 137, dtype=torch.uint8))
    codes = torch.arange(32, dtype=torch.uint8)[:, None] % 16
    down = (
        torch.where(torch.arange(16) == 0, codes, 0).to(torch.uint8)[None],
        torch.full((1, 32, 1), scale, dtype=torch.uint8),
    )
    x = torch.zeros(1, 32)
    x[0, 0] = 1.0
    arguments = (x, ids, weights, ones, ones, down, Activation("silu"))
    got, expected = IMPLEMENTATIONS[name].experts(*arguments), REFERENCE.experts(*arguments)
    assert expected.abs().max() > 0
    torch.testing.assert_close(
        got / expected.abs().max(), expected / expected.abs().max(), rtol=1e-5, atol=1e-5
    )


@each
def test_what_is_not_finite_is_not_hidden(name) -> None:
    parts = made_experts(0, 2, 32, 64, None)
    x = drawn(0, 2, 64)
    x[1, 5] = float("inf")
    ids, weights = torch.tensor([[0], [1]], dtype=torch.int32), torch.ones(2, 1)
    got = IMPLEMENTATIONS[name].experts(x, ids, weights, *parts, SITU)
    assert torch.isfinite(got[0]).all()
    assert not torch.isfinite(got[1]).all()
