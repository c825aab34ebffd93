"""Chunks are the recurrence, also where decays are at their bound; the two gates are two functions."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from kernels.layout import Sequences  # noqa: E402
from kernels.reference.kda import kda_chunked, kda_inputs, kda_recurrent  # noqa: E402


@settings(max_examples=12, deadline=None)
@given(
    new=st.lists(st.integers(1, 140), min_size=1, max_size=2),
    bound=st.sampled_from([-5.0, None]),
    push=st.sampled_from([-8.0, 0.0, 8.0, 40.0]),
    seed=st.integers(0, 1000),
)
def test_chunks_are_the_recurrence(new, bound, push, seed) -> None:
    torch.manual_seed(seed)
    count, heads, width = sum(new), 2, 16
    q, k, v, decay = (torch.randn(count, heads, width) for _ in range(4))
    q, k, g = kda_inputs(q, k, decay + push, torch.rand(heads), torch.zeros(heads * width), bound)
    beta = torch.rand(count, heads)
    states = torch.randn(len(new), heads, width, width)
    sequences = Sequences.of(new, new, list(range(len(new))), torch.zeros(len(new), 1))
    one, two = states.clone(), states.clone()
    by_step = kda_recurrent(q, k, v, g, beta, one, sequences)
    by_chunk = kda_chunked(q, k, v, g, beta, two, sequences)
    torch.testing.assert_close(by_chunk, by_step, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(two, one, rtol=1e-4, atol=1e-4)


def test_the_bounded_gate_stays_in_its_bound_and_the_other_does_not() -> None:
    push = torch.full((1, 1, 4), 100.0)
    bias = torch.zeros(4)
    _, _, bounded = kda_inputs(push, push, push, torch.zeros(1), bias, -5.0)
    _, _, free = kda_inputs(push, push, push, torch.zeros(1), bias, None)
    assert bounded.flatten().tolist() == pytest.approx([-5.0] * 4)
    assert free.flatten().tolist() == pytest.approx([-100.0] * 4)
