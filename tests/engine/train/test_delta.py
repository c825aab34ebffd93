"""KDA's gradients: against finite differences, and finite where decays are at their bound."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from engine.train.delta import Chunked, Scan, Unchunked, causal_conv, kda, recurrence  # noqa: E402
from engine.train.packed import Packed  # noqa: E402


def drawn(*shape: int, seed: int = 0, dtype=torch.float64):
    made = torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)
    return made.requires_grad_()


def test_states_from_chunk_to_chunk():
    n, heads, size, d, e = 5, 2, 3, 4, 2
    shapes = ((size, d), (size, size), (size, e), (size, d), (size, d), (d, 1))
    parts = [drawn(n, heads, *shape, seed=number) for number, shape in enumerate(shapes)]
    begun = drawn(2, heads, d, e, seed=9)
    assert torch.autograd.gradcheck(lambda *inputs: Scan.apply(*inputs, (2, 2, 1)), [*parts, begun])
    assert torch.autograd.gradcheck(lambda *inputs: Scan.apply(*inputs, None, (2, 2, 1)), parts)


def test_recurrence_on_chunks():
    parts = [drawn(1, 1, 32, 2, seed=number) for number in range(4)]
    q, k, v, g = parts
    beta = drawn(1, 1, 32, 1, seed=5)

    def out(q, k, v, g, beta):
        return recurrence(q, k / 2, v, -torch.nn.functional.softplus(g), torch.sigmoid(beta))

    assert torch.autograd.gradcheck(out, (q, k, v, g, beta), fast_mode=True)


def test_rows_to_chunks_and_back(packed, lengths):
    x = drawn(sum(lengths), 2)
    assert torch.equal(Unchunked.apply(Chunked.apply(x, packed), packed), x)
    small = Packed.at(torch.tensor([0, 3, 4]))
    assert torch.autograd.gradcheck(lambda x: Chunked.apply(x, small), drawn(4, 2))
    assert torch.autograd.gradcheck(lambda x: Unchunked.apply(x, small), drawn(2, 32, 1))


def test_decays_at_their_bound_have_gradients(packed, lengths):
    count = sum(lengths)
    qkv = drawn(count, 3 * 32, dtype=torch.float32)
    decay = torch.full((count, 32), 50.0, requires_grad=True)
    beta = drawn(count, 2, dtype=torch.float32)
    a_log, dt_bias = torch.zeros(2, requires_grad=True), torch.zeros(32, requires_grad=True)
    out = kda(qkv, decay, beta, a_log, dt_bias, -5.0, None, packed)
    out.square().sum().backward()
    assert torch.isfinite(out).all()
    for one in (qkv, decay, beta, a_log, dt_bias):
        assert torch.isfinite(one.grad).all()
    assert qkv.grad.abs().max() > 0


def test_convolution_restarts(packed, lengths):
    x, weight = drawn(sum(lengths), 3), drawn(3, 4, seed=1)
    out = causal_conv(x, weight, None, packed)
    first, last = packed.spans[2].first, packed.spans[2].last
    (grad,) = torch.autograd.grad(out[first:last].sum(), x)
    assert (grad[first:last] != 0).all()
    assert not grad[:first].any()
    assert not grad[last:].any()
