"""The patch encoder and its projector, top to bottom: patches of several pictures, one after the other, to tokens.

x ← patch·W + position;  x ← x + attention(norm(x));  x ← x + mlp(norm(x));  tokens ← project(norm(x), 2 × 2 together)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.config import Vision
from engine.vision import positions
from kernels.dispatch import Ops


@dataclass(slots=True)
class Affine:
    """weight: [out, in], or [D] of a norm. bias: [out], or None."""

    weight: Tensor
    bias: Tensor | None


@dataclass(slots=True)
class BlockWeights:
    """qkv: [3·width, hidden]. out: [hidden, width]. up: [inter, hidden]. down: [hidden, inter]."""

    attention_norm: Affine
    qkv: Affine
    out: Affine
    mlp_norm: Affine
    up: Affine
    down: Affine


@dataclass(slots=True)
class VisionWeights:
    """patch: [hidden, 3·patch²]. positions: [grid, grid, hidden]. before: a norm of [hidden], or None. first:
    [merge²·hidden, merge²·hidden]. second: [model's width, merge²·hidden]. after: norm of [model's width], or None."""

    patch: Affine
    positions: Tensor
    blocks: list[BlockWeights]
    norm: Affine
    before: Affine | None
    first: Affine
    second: Affine
    after: Tensor | None


def encode(
    canvases: Sequence[Tensor], w: VisionWeights, config: Vision, ops: Ops, dtype: torch.dtype
) -> list[Tensor]:
    """Embeddings of each picture, [tokens, model's width] of `dtype`, computed together.

    canvases: [height, width, 3] uint8 each, sides a multiple of patch·merge.
    """
    device = w.positions.device
    grids = [(one.shape[0] // config.patch, one.shape[1] // config.patch) for one in canvases]
    sizes = [rows * columns for rows, columns in grids]
    starts = torch.tensor([0, *sizes], dtype=torch.int32).cumsum(0, dtype=torch.int32)
    patches = torch.cat([_patches(one.to(device), config.patch) for one in canvases])
    places = torch.cat([positions.learned(w.positions, *grid, config.positions) for grid in grids])
    head = config.width // config.heads
    angles = torch.cat([positions.angles(*grid, head, device) for grid in grids])
    x = ops.add(_affine(patches.to(dtype), w.patch, ops), places)
    for block in w.blocks:
        qkv = _affine(_norm(x, block.attention_norm, config, ops), block.qkv, ops)
        x = ops.add(x, _affine(ops.patch_attention(qkv, angles, starts, config.heads), block.out, ops))
        up = ops.gelu(_affine(_norm(x, block.mlp_norm, config, ops), block.up, ops), True)
        x = ops.add(x, _affine(up, block.down, ops))
    x = _norm(x, w.norm, config, ops)
    tokens = _project(
        torch.cat([_merged(*pair, config.merge) for pair in zip(x.split(sizes), grids, strict=True)]),
        w,
        config,
        ops,
    )
    return list(tokens.split([size // config.merge**2 for size in sizes]))


def _project(x: Tensor, w: VisionWeights, config: Vision, ops: Ops) -> Tensor:
    """x: [tokens·merge², hidden], a token's patches one after the other."""
    if w.before is not None:
        x = ops.layer_norm(x, w.before.weight, w.before.bias, config.projector_eps)
    x = x.reshape(-1, config.merge**2 * config.hidden)
    x = _affine(ops.gelu(_affine(x, w.first, ops), False), w.second, ops)
    return x if w.after is None else ops.rms_norm(x, w.after, config.projector_eps)


def _patches(canvas: Tensor, side: int) -> Tensor:
    """[patches, 3·side²] fp32 between −1 and 1, row after row; a patch's numbers by colour, then row, then column."""
    rows, columns = canvas.shape[0] // side, canvas.shape[1] // side
    cut = canvas.reshape(rows, side, columns, side, 3).permute(0, 2, 4, 1, 3)
    return cut.reshape(rows * columns, 3 * side**2).float() / 127.5 - 1


def _merged(x: Tensor, grid: tuple[int, int], merge: int) -> Tensor:
    """The patches of a picture in the order of its tokens, squares of merge² patches. x: [rows·columns, hidden]."""
    rows, columns = grid
    return x.reshape(rows // merge, merge, columns // merge, merge, -1).transpose(1, 2).flatten(0, 3)


def _affine(x: Tensor, w: Affine, ops: Ops) -> Tensor:
    x = ops.linear(x, w.weight)
    return x if w.bias is None else ops.shift(x, w.bias)


def _norm(x: Tensor, w: Affine, config: Vision, ops: Ops) -> Tensor:
    if config.norm == "rms":
        return ops.rms_norm(x, w.weight, config.norm_eps)
    return ops.layer_norm(x, w.weight, w.bias, config.norm_eps)
