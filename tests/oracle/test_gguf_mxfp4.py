"""MXFP4 blocks as GGUF lays them out, read by gguf-py: the same numbers, bit for bit."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
gguf = pytest.importorskip("gguf")

from engine.weights.gguf import repack  # noqa: E402
from kernels.reference.mxfp4 import unpack  # noqa: E402


def test_every_code_under_every_scale() -> None:
    codes = torch.arange(16, dtype=torch.uint8)
    block = torch.cat([codes, codes.flip(0)])  # 32 columns: each code in an even column and in an odd one
    packed = (block[0::2] | block[1::2] << 4).expand(255, 1, 16).contiguous()
    scales = torch.arange(255, dtype=torch.uint8)[:, None, None]  # 255 stands for NaN
    packed, scales = packed.flatten(0, 1), scales.flatten(0, 1)
    theirs = gguf.quants.dequantize(repack(packed, scales), gguf.GGMLQuantizationType.MXFP4)
    assert torch.equal(torch.from_numpy(theirs), unpack(packed, scales))


def test_drawn_blocks() -> None:
    drawn = torch.Generator().manual_seed(0)
    packed = torch.randint(0, 256, (24, 3 * 16), generator=drawn, dtype=torch.uint8)
    scales = torch.randint(100, 140, (24, 3), generator=drawn, dtype=torch.uint8)
    theirs = gguf.quants.dequantize(repack(packed, scales), gguf.GGMLQuantizationType.MXFP4)
    assert torch.equal(torch.from_numpy(theirs), unpack(packed, scales))
