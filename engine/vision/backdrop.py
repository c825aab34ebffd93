"""What shows where a picture is transparent."""

from __future__ import annotations

import numpy as np

from engine.config import Backdrop

_PLAIN = {"white": 255, "black": 0, "gray": 128}
_STRIP = 256
"""Rows at a time: the sums are four times as wide as what they make."""


def fill(pixels: np.ndarray, backdrop: Backdrop) -> np.ndarray:
    """pixels: [height, width, 4] uint8. Gives [height, width, 3], the backdrop's first square at the top left."""
    height, width = pixels.shape[:2]
    made = np.empty((height, width, 3), np.uint8)
    for first in range(0, height, _STRIP):
        strip = pixels[first : first + _STRIP]
        behind = _behind(backdrop, first, len(strip), width)
        cover = strip[..., 3:].astype(np.float32) / 255
        made[first : first + _STRIP] = cover * strip[..., :3] + (1 - cover) * behind
    return made


def _behind(backdrop: Backdrop, first: int, rows: int, width: int) -> np.ndarray:
    """[rows, width or 1, 1] fp32, of the rows from `first` on."""
    plain = _PLAIN.get(backdrop.pattern)
    if plain is not None:
        return np.full((rows, 1, 1), plain, np.float32)
    y, x = np.ogrid[first : first + rows, :width]
    odd = (y // backdrop.square + x // backdrop.square) % 2 == (1 if backdrop.white_first else 0)
    return np.where(odd, np.float32(backdrop.gray), np.float32(backdrop.white))[..., None]
