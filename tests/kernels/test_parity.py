"""Every implementation that this machine has computes what the reference does.

Tolerances: results in fp32 within 2e-5 of the largest value (other orders of addition, a polynomial for e^x); in bf16
within a unit of its last place. MXFP4 with int8 activations: 1 % of the result's norm against the reference on
activations rounded alike (a value may round the other way), 3 % against the reference itself. Choices (top-k) are
equal, on scores that are exact in fp32. Products of bf16 weights may round activations to bf16 (HALVED), in fp32 within
2e-5 of the reference on activations rounded alike. Triton's kernels run on a GPU where there is one, else in Triton's
interpreter.
"""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from kernels.dispatch import REFERENCE, Ops, available, select  # noqa: E402
from kernels.layout import Activation, Sequences  # noqa: E402
from kernels.reference.glu import glu  # noqa: E402
from kernels.reference.mxfp4 import BLOCK, pack, unpack  # noqa: E402

FP32, BF16 = torch.float32, torch.bfloat16
WITHIN = {FP32: 2e-5, BF16: 2.0**-7}


class Elsewhere:
    """Operations of another device on tensors of this one; what they change in place is brought back."""

    def __init__(self, ops: Ops, device: str) -> None:
        self._ops, self._device = ops, device

    def __getattr__(self, name: str):
        def run(*arguments):
            moved: list = []

            def there(thing):
                if isinstance(thing, torch.Tensor):
                    moved.append((thing, thing.to(self._device)))
                    return moved[-1][1]
                if isinstance(thing, Sequences):
                    return thing.to(self._device)
                return type(thing)(map(there, thing)) if isinstance(thing, (tuple, list)) else thing

            made = getattr(self._ops, name)(*map(there, arguments))
            for mine, theirs in moved:
                mine.copy_(theirs)
            if made is None:
                return None
            return tuple(part.cpu() for part in made) if isinstance(made, tuple) else made.cpu()

        return run


IMPLEMENTATIONS = {name: select(name=name) for name in available() if name != "reference"}
if torch.cuda.is_available():
    IMPLEMENTATIONS |= {
        name: Elsewhere(select("cuda", name), "cuda") for name in available("cuda") if name != "reference"
    }
DRAWN = [name for name in IMPLEMENTATIONS if name.startswith("triton")]
EXACT = [name for name in IMPLEMENTATIONS if name.endswith("-exact")]
INT8 = [name for name in IMPLEMENTATIONS if name not in EXACT and name not in DRAWN]
HALVED = ("avx512bf16",)  # activations rounded to bf16 where weights are
ACTIVATIONS = (Activation("silu"), Activation("situ", 4.0, 25.0), Activation("situ", 4.0, 0.0))
SITU = ACTIVATIONS[1]

pytestmark = pytest.mark.skipif(not IMPLEMENTATIONS, reason="only the reference is installed")
some = settings(max_examples=10, deadline=None)
each = pytest.mark.parametrize("name", [*INT8, *(name for name in EXACT if name in DRAWN)])
dtypes = st.sampled_from([FP32, BF16])
seeds = st.integers(0, 10_000)
rows = st.integers(0, 9)
widths = st.integers(1, 150)
sizes = st.sampled_from([0.0, 1e-6, 1.0, 1e4])


def same(one, two, dtype=None) -> None:
    assert one.shape == two.shape
    assert one.dtype == two.dtype
    within = WITHIN[dtype or one.dtype]
    largest = two.float().abs().max().item() if two.numel() else 0.0
    torch.testing.assert_close(one.float(), two.float(), rtol=within, atol=within * largest, equal_nan=True)


def drawn(seed: int, *shape: int, dtype=FP32, size: float = 1.0):
    return (torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * size).to(dtype)


def batch(new: list[int], before: list[int], page: int) -> tuple[Sequences, int]:
    """Sequences whose pages lie backwards in a pool, and the pool's number of pages."""
    lengths = [one + two for one, two in zip(new, before, strict=True)]
    counts = [-(-length // page) for length in lengths]
    table = torch.zeros(len(new), max(counts, default=0) + 1, dtype=torch.int32)
    number = sum(counts)
    for row, count in enumerate(counts):
        for at in range(count):
            number -= 1
            table[row, at] = number
    return Sequences.of(new, lengths, list(reversed(range(len(new)))), table), sum(counts) + 1


batches = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 70)), min_size=1, max_size=3).map(
    lambda pairs: ([new for new, _ in pairs], [before for _, before in pairs])
)


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
