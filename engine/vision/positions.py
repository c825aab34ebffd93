"""Where a patch stands in its picture: a learned grid resampled to the picture's own, and angles for its pairs."""

from __future__ import annotations

import torch
from torch import Tensor

_BASE = 10_000.0


def learned(grid: Tensor, rows: int, columns: int, mode: str) -> Tensor:
    """[rows·columns, hidden] fp32. grid: [side, side, hidden]; mode: `bicubic` or `bilinear`."""
    wide = grid.float()
    if wide.shape[:2] == (rows, columns):
        return wide.flatten(0, 1)
    resampled = torch.nn.functional.interpolate(wide.permute(2, 0, 1)[None], size=(rows, columns), mode=mode)
    return resampled[0].permute(1, 2, 0).flatten(0, 1)


def angles(rows: int, columns: int, width: int, device: torch.device) -> Tensor:
    """[rows·columns, width/2] fp32 for heads of `width`: pair 2i is turned by the column, pair 2i + 1 by the row, each
    times 10000^(−4i/width)."""
    speeds = _BASE ** -(torch.arange(0, width, 4, dtype=torch.float32, device=device) / width)
    down = torch.arange(rows, dtype=torch.float32, device=device)[:, None] * speeds
    across = torch.arange(columns, dtype=torch.float32, device=device)[:, None] * speeds
    both = torch.stack([across.expand(rows, -1, -1), down[:, None].expand(-1, columns, -1)], dim=-1)
    return both.reshape(rows * columns, width // 2)
