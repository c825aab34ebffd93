"""What every kernel here uses: ragged rows, rounding, products of mixed dtypes, float helpers.

Kernels also run in Triton's interpreter (`TRITON_INTERPRET=1`, on a CPU), whose bfloat16 is not to be trusted: values
are made fp32 right after a load, products are fp32, and rounding is done by hand before a store.
"""

from __future__ import annotations

import triton
import triton.language as tl
from torch import Tensor, bfloat16, float32

from kernels.layout import Sequences

INTERPRETED = tl.constexpr(bool(triton.knobs.runtime.interpret))
FLOATS = (float32, bfloat16)


class Unsupported(ValueError):
    """These kernels have no code for such tensors; raised before anything is written."""


def power_of_two(number: int, least: int = 1) -> int:
    """The smallest power of two ≥ both."""
    return max(least, 1 << max(number - 1, 0).bit_length())


def blocks(number: int, size: int) -> int:
    """How many blocks of `size` hold `number`."""
    return -(-number // size)


def check(*tensors: Tensor | None) -> None:
    """Errors: Unsupported for a dtype that isn't fp32 or bf16."""
    for tensor in tensors:
        if tensor is not None and tensor.dtype not in FLOATS:
            raise Unsupported(f"no kernel for {tensor.dtype}")


def check_whole(*tensors: Tensor) -> None:
    """Errors: Unsupported for memory that isn't one piece: kernels read weights and pools as they lie."""
    if not all(tensor.is_contiguous() for tensor in tensors):
        raise Unsupported("no kernel for memory that isn't contiguous")


def tiles(sequences: Sequences, size: int, rows: int) -> tuple[Tensor, int]:
    """Each sequence's new rows cut into tiles of `size`: (the running number of tiles [S] int32, how many there can
    be at most). Known without asking the device."""
    new = sequences.starts.diff()
    ends = ((new + (size - 1)) // size).cumsum(0).int()
    return ends, rows // size + min(rows, sequences.slots.shape[0])


@triton.jit
def count_up_to(ends, at, count, BLOCK: tl.constexpr):
    """How many of the `count` ascending numbers at `ends` are ≤ `at`: which part of a ragged whole holds `at`."""
    i = tl.arange(0, BLOCK)
    end = tl.load(ends + i, mask=i < count, other=2147483647)
    return tl.sum((end <= at).to(tl.int32), 0)


@triton.jit
def tile_of(ends, starts, tile, count, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    """(sequence, its first row in this tile, the row after its last one). The sequence is `count` past the end."""
    number = count_up_to(ends, tile, count, BLOCK)
    before = tl.load(ends + number - 1, mask=(number > 0) & (number < count), other=0)
    first = tl.load(starts + number, mask=number < count, other=0) + (tile - before) * SIZE
    last = tl.load(starts + number + 1, mask=number < count, other=0)
    return number, first, last


@triton.jit
def rounded(x, dtype: tl.constexpr):
    """`x`, fp32, in another dtype, to the nearest."""
    if INTERPRETED and dtype == tl.bfloat16:
        bits = x.to(tl.int32, bitcast=True)
        even = bits + 0x7FFF + ((bits >> 16) & 1)
        bits = tl.where(x == x, even & -65536, bits)
        x = bits.to(tl.float32, bitcast=True)
    return x.to(dtype)


@triton.jit
def take(pointer, mask, NARROW: tl.constexpr):
    """Numbers as a product wants them: bf16 if NARROW and on a device, else fp32; zero outside the mask."""
    x = tl.load(pointer, mask=mask, other=0.0).to(tl.float32)
    return narrowed(x, NARROW)


@triton.jit
def narrowed(x, NARROW: tl.constexpr):
    if NARROW:
        if INTERPRETED:
            x = rounded(x, tl.bfloat16).to(tl.float32)
        else:
            x = x.to(tl.bfloat16)
    return x


@triton.jit
def dot(a, b, acc, PRECISION: tl.constexpr):
    """`acc + a b`, summed in fp32."""
    return tl.dot(a, b, acc, input_precision=PRECISION)


@triton.jit
def sigmoid(x):
    return 1.0 / (1.0 + tl.exp(-x))


@triton.jit
def tanh(x):
    """Exact for small ones too, by e = e^2x − 1 formed without cancellation (Kahan)."""
    twice = 2.0 * tl.abs(x)
    twice = tl.where(twice > 30.0, 30.0, twice)
    u = tl.exp(twice)
    e = tl.where(u == 1.0, twice, (u - 1.0) * twice / tl.where(u == 1.0, 1.0, tl.log(u)))
    return tl.where(x < 0.0, -1.0, 1.0) * e / (e + 2.0)


@triton.jit
def softplus(x):
    """`log(1 + e^x)`, exact for large negative x (Kahan's log1p)."""
    e = tl.exp(-tl.abs(x))
    u = 1.0 + e
    rest = tl.where(u == 1.0, e, tl.log(u) * e / tl.where(u == 1.0, 1.0, u - 1.0))
    return tl.where(x > 0.0, x, 0.0) + rest


@triton.jit
def gated_unit(gate, up, SITU: tl.constexpr, beta, linear_beta, BOUNDED: tl.constexpr):
    """SwiGLU or SiTU-GLU of two branches, as `kernels.reference.glu`."""
    if SITU:
        if BOUNDED:
            up = linear_beta * tanh(up / linear_beta)
        made = beta * tanh(gate / beta) * sigmoid(gate) * up
    else:
        made = gate * sigmoid(gate) * up
    return made
