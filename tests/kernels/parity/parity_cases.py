"""Every implementation that this machine has computes what the reference does: which there are, inputs, tolerances.

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

from hypothesis import settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from kernels.dispatch import Ops, available, select  # noqa: E402
from kernels.layout import Activation, Sequences  # noqa: E402

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
