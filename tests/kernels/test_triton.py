"""What Triton's kernels promise beside parity: the quick products stay near, no answer depends on the company, what has
no kernel goes to the reference. On a GPU where there is one, else in Triton's interpreter."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from kernels.dispatch import REFERENCE, available, select  # noqa: E402
from kernels.layout import Activation, Sequences  # noqa: E402
from kernels.reference.mxfp4 import pack  # noqa: E402

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
BF16 = torch.bfloat16
SITU = Activation("situ", 4.0, 25.0)

pytestmark = pytest.mark.skipif("triton" not in available(DEVICE), reason="neither a GPU nor the interpreter")


def drawn(seed: int, *shape: int, dtype=torch.float32, size: float = 1.0):
    made = torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * size
    return made.to(dtype).to(DEVICE)


def near(got, expected, within: float = 0.01) -> None:
    assert got.dtype == expected.dtype
    assert torch.isfinite(got).all()
    assert (got.float() - expected.float()).norm() <= within * expected.float().norm()


@pytest.mark.parametrize("rows", [3, 20])
def test_quick_products_stay_near(rows) -> None:
    """bf16 weights against fp32 inputs: rounded to bf16 before the product, no further off."""
    ops = select(DEVICE, "triton")
    x = drawn(1, rows, 96)
    near(ops.linear(x, drawn(2, 40, 96, dtype=BF16)), REFERENCE.linear(x, drawn(2, 40, 96, dtype=BF16)))
    both = drawn(3, 2, 40, 32, dtype=BF16)
    near(
        ops.absorb(drawn(4, rows, 2 * 28), both[:, :24]),
        REFERENCE.absorb(drawn(4, rows, 2 * 28), both[:, :24]),
    )
    o = drawn(5, rows, 2, 32)
    near(ops.expand(o, both[:, 24:], BF16), REFERENCE.expand(o, both[:, 24:], BF16))


@pytest.mark.parametrize(
    ("rows", "experts", "width"),
    [(2, 5, 544), (20, 5, 96), (40, 1, 96)],
    ids=["alone", "few each", "many each"],
)
def test_quick_experts_stay_near(rows, experts, width) -> None:
    """By pairs over more columns than a program reads at once; grouped in low tiles and in high ones."""
    ops, k = select(DEVICE, "triton"), min(2, experts)
    shapes = ((64, width), (64, width), (width, 64))
    parts = [
        tuple(part.to(DEVICE) for part in pack(drawn(at, experts, *shape, size=0.2).cpu()))
        for at, shape in enumerate(shapes)
    ]
    x, weights = drawn(7, rows, width, dtype=BF16), drawn(8, rows, k).abs()
    ids = (torch.arange(rows * k).view(rows, k) * 3 % experts).int().to(DEVICE)
    near(ops.experts(x, ids, weights, *parts, SITU), REFERENCE.experts(x, ids, weights, *parts, SITU))


def test_a_long_past_in_spans_is_the_past() -> None:
    """Few rows with many keys are cut into spans, of which some hold no chosen key."""
    table = torch.arange(40, dtype=torch.int32).flip(0)[None]
    pages = drawn(1, 40, 16, 40, dtype=BF16)
    s = Sequences.of([2], [630], [0], table)
    q = drawn(2, 2, 3, 40)
    chosen = torch.full((2, 600), -1, dtype=torch.int32)
    chosen[:, :5] = torch.tensor([0, 7, 300, 301, 628])
    for picked in (None, chosen.to(DEVICE)):
        expected = REFERENCE.mla_attention(q, pages, s.to(DEVICE), picked, 32, 0.2)
        exact = select(DEVICE, "triton-exact").mla_attention(q, pages, s.to(DEVICE), picked, 32, 0.2)
        torch.testing.assert_close(exact, expected, rtol=1e-4, atol=2e-5)
        near(select(DEVICE, "triton").mla_attention(q, pages, s.to(DEVICE), picked, 32, 0.2), expected)


def test_the_best_of_many_scores() -> None:
    """More scores than one program reads, most of them equal, infinities and both zeros among them."""
    from kernels.triton.topk import select as best

    generator = torch.Generator().manual_seed(1)
    scores = torch.randint(-2, 3, (3, 20_000), generator=generator).float()
    scores[0, 17_000], scores[1, 5], scores[2, :] = float("inf"), float("-inf"), 0.0
    seen = torch.tensor([20_000, 9000, 300], dtype=torch.int32)
    out = torch.empty((3, 400), dtype=torch.int32, device=DEVICE)
    best(scores.to(DEVICE), seen.to(DEVICE), out)
    for row, count in enumerate(seen.tolist()):
        order = torch.sort(scores[row, :count], descending=True, stable=True).indices[:400]
        expected = torch.full((400,), -1)
        expected[: len(order)] = order.sort().values
        assert out[row].tolist() == expected.tolist()


def test_strong_decays_hide_no_weak_ones() -> None:
    """After a token that all but forgets, later ones decay by little: sums of decays must not swallow that."""
    n, d = 100, 16
    qkv, beta = drawn(1, n, 3 * d), drawn(2, n, 1)
    decay = torch.full((n, d), -9.0)
    decay[5::20] = 2000.0
    rest = beta, torch.zeros(1, device=DEVICE), torch.zeros(d, device=DEVICE), None
    one, two = torch.zeros(1, 1, d, d, device=DEVICE), torch.zeros(1, 1, d, d, device=DEVICE)
    s = Sequences.of([n], [n], [0], torch.zeros(1, 1)).to(DEVICE)
    got = select(DEVICE, "triton-exact").kda(qkv, decay.to(DEVICE), *rest, one, s)
    steps = []
    for t in range(n):
        now = Sequences.of([1], [t + 1], [0], torch.zeros(1, 1)).to(DEVICE)
        row = slice(t, t + 1)
        steps.append(REFERENCE.kda(qkv[row], decay[row].to(DEVICE), beta[row], *rest[1:], two, now))
    torch.testing.assert_close(got, torch.cat(steps), rtol=2e-5, atol=2e-5)
    torch.testing.assert_close(one, two, rtol=2e-5, atol=2e-5)


def test_the_reference_takes_what_has_no_kernel() -> None:
    ops = select(DEVICE, "triton")
    x, weight = torch.randn(3, 8, device=DEVICE).half(), torch.randn(5, 8, device=DEVICE).half()
    assert torch.equal(ops.linear(x, weight), REFERENCE.linear(x, weight))
    assert torch.equal(ops.rms_norm(x, None, 1e-5), REFERENCE.rms_norm(x, None, 1e-5))
