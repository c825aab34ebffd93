"""What sequences keep: convolutions, states, pages, and attention over them."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from parity_cases import (  # noqa: E402
    BF16,
    FP32,
    IMPLEMENTATIONS,
    batch,
    batches,
    drawn,
    dtypes,
    each,
    same,
    seeds,
    sizes,
    some,
)

from kernels.dispatch import REFERENCE, Ops  # noqa: E402


@each
@some
@given(batches, st.integers(1, 70), st.integers(2, 5), dtypes, dtypes, seeds)
def test_convolution(name, pieces, channels, kernel, dtype, of_states, seed) -> None:
    sequences, _ = batch(*pieces, page=16)
    x = drawn(seed, sum(pieces[0]), channels, dtype=dtype)
    weight = drawn(seed + 1, channels, kernel, dtype=dtype)
    one = drawn(seed + 2, len(pieces[0]), channels, kernel - 1, dtype=of_states)
    two = one.clone()
    got = IMPLEMENTATIONS[name].causal_conv(x, weight, one, sequences)
    same(got, REFERENCE.causal_conv(x, weight, two, sequences))
    assert torch.equal(one, two)


@each
@some
@given(
    st.lists(st.integers(1, 140), min_size=1, max_size=2),
    st.integers(1, 3),
    st.sampled_from([1, 8, 16, 40, 64]),
    st.sampled_from([-5.0, None]),
    st.sampled_from([-8.0, 0.0, 8.0, 40.0]),
    dtypes,
    seeds,
)
def test_delta_attention(name, new, heads, d, bound, push, dtype, seed) -> None:
    """Parts, steps and the output's gated norm. The reference's chunks have an error of their own: 1e-4."""
    ops: Ops = IMPLEMENTATIONS[name]
    n = sum(new)
    sequences, _ = batch(new, [0] * len(new), page=16)
    qkv, decay = drawn(seed, n, 3 * heads * d, dtype=dtype), drawn(seed + 1, n, heads * d, dtype=dtype) + push
    beta, a_log, bias = (
        drawn(seed + 2, n, heads, dtype=dtype),
        drawn(seed + 3, heads),
        drawn(seed + 4, heads * d),
    )
    one = drawn(seed + 5, len(new), heads, d, d)
    two = one.clone()
    got = ops.kda(qkv, decay, beta, a_log, bias, bound, one, sequences)
    expected = REFERENCE.kda(qkv, decay, beta, a_log, bias, bound, two, sequences)
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(one, two, rtol=1e-4, atol=1e-4)
    weight, gate = drawn(seed, d, dtype=dtype), drawn(seed, n, heads * d, dtype=dtype)
    same(ops.gated_norm(expected, weight, gate, 1e-5), REFERENCE.gated_norm(expected, weight, gate, 1e-5))


@each
@some
@given(batches, st.sampled_from([1, 7, 16, 64]), dtypes, dtypes, seeds)
def test_appending(name, pieces, page, dtype, of_pages, seed) -> None:
    ops: Ops = IMPLEMENTATIONS[name]
    sequences, count = batch(*pieces, page=page)
    kv, keys = drawn(seed, sum(pieces[0]), 40, dtype=dtype), drawn(seed + 1, sum(pieces[0]), 24, dtype=dtype)
    pools = [torch.zeros(count, page, width, dtype=of_pages) for width in (40, 40, 24, 24)]
    norm, weight, bias = drawn(seed, 32, dtype=dtype), drawn(seed, 24), drawn(seed + 1, 24)
    for implementation, latents, of_keys in ((ops, pools[0], pools[2]), (REFERENCE, pools[1], pools[3])):
        implementation.write_latents(kv, norm, 1e-5, latents, sequences)
        implementation.write_keys(keys, weight, bias, 1e-6, of_keys, sequences)
    wider = BF16 if BF16 in (dtype, of_pages) else FP32
    same(pools[0], pools[1], wider)
    same(pools[2], pools[3], wider)


@each
@some
@given(
    batches, st.sampled_from([1, 7, 64]), st.sampled_from([1, 3, 33]), st.integers(1, 40), dtypes, st.integers(1, 3),
    seeds,
)  # fmt: skip
def test_indexer(name, pieces, page, heads, k, dtype, spread, seed) -> None:
    """On small whole numbers and a width of 4: many exact ties, and many zeros. Held to the definition in fp64."""
    sequences, count = batch(*pieces, page=page)
    n, d = sum(pieces[0]), 4
    whole = torch.Generator().manual_seed(seed)
    q, weights, keys = (
        torch.randint(-spread, spread + 1, shape, generator=whole).to(dtype)
        for shape in ((n, heads * d), (n, heads), (count, page, d))
    )
    got = IMPLEMENTATIONS[name].index_topk(q, weights, keys, sequences, k)
    expected = torch.full((n, k), -1, dtype=torch.int32)
    for number, (first, last, length, _) in enumerate(sequences.rows()):
        past = keys[sequences.table[number].long()].flatten(0, 1)[:length].double()
        for row in range(first, last):
            seen = past[: length - last + row + 1]
            scores = weights[row].double() @ torch.relu(q[row].double().view(heads, d) @ seen.T)
            best = torch.sort(scores, descending=True, stable=True).indices[:k].sort().values
            expected[row, : len(best)] = best.int()
    assert torch.equal(got, expected)
    if heads == 1:  # of more heads the reference rounds H^-½ into each weight
        assert torch.equal(got, REFERENCE.index_topk(q, weights, keys, sequences, k))


@each
@some
@given(batches, st.sampled_from([1, 16, 64]), st.integers(1, 9), dtypes, st.booleans(), sizes, seeds)
def test_latent_attention(name, pieces, page, heads, dtype, sparse, size, seed) -> None:
    ops: Ops = IMPLEMENTATIONS[name]
    sequences, count = batch(*pieces, page=page)
    n, nope, shared, rank, v = sum(pieces[0]), 24, 8, 40, 20
    q = drawn(seed, n, heads * (nope + shared), dtype=dtype, size=size)
    both = drawn(seed + 1, heads, nope + v, rank, dtype=dtype, size=rank**-0.5)
    absorbed = REFERENCE.absorb(q, both[:, :nope])
    same(ops.absorb(q, both[:, :nope]), absorbed)
    pool = drawn(seed + 2, count, page, rank + shared, dtype=dtype)
    chosen = None
    if sparse:
        chosen = torch.full((n, 70), -1, dtype=torch.int32)
        for first, last, length, _ in sequences.rows():
            for row in range(first, last):
                some_of = [at for at in range(length - last + row + 1) if (at * 31 + seed) % 3][:70] or [0]
                chosen[row, : len(some_of)] = torch.tensor(some_of, dtype=torch.int32)
    expected = REFERENCE.mla_attention(absorbed, pool, sequences, chosen, rank, 0.2)
    got = ops.mla_attention(absorbed, pool, sequences, chosen, rank, 0.2)
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=2e-5 if size < 100 else 2e-2)
    same(ops.expand(expected, both[:, nope:], dtype), REFERENCE.expand(expected, both[:, nope:], dtype))
