"""A picture as the patch encoder takes it."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import torch
from torch import Tensor

from engine.config import Vision
from engine.vision.files import decode
from engine.vision.size import Size, fit

_SQUARE, _LIGHT, _DARK = 8, 255, 180
"""The chessboard behind transparent parts, as Kimi K3's preprocessing has it: pixels, and two greys."""


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """width, height: pixels as people see it, before it is brought to the model's size. tokens: rows of the model's
    input. canvas: [height, width, 3] uint8, sides in whole tokens. digest: of the canvas."""

    width: int
    height: int
    tokens: int
    canvas: Tensor
    digest: bytes


def read(data: bytes, vision: Vision) -> Picture:
    """The picture in a file. Same bytes, same canvas, on every machine. Errors: RequestError."""
    image = decode(data)
    width, height = image.size
    size = fit(width, height, vision)
    if image.size != (size.width, size.height):
        from PIL.Image import Resampling

        image = image.resize((size.width, size.height), Resampling.BICUBIC)
    canvas = torch.from_numpy(_canvas(np.asarray(image), size, vision))
    shape = np.array(canvas.shape, dtype="<i8").tobytes()
    digest = blake2b(canvas.numpy().data, digest_size=20, salt=shape[:8], person=shape[8:16]).digest()
    return Picture(width, height, size.tokens, canvas, digest)


def _canvas(pixels: np.ndarray, size: Size, vision: Vision) -> np.ndarray:
    """Black where the last tokens lie beyond the picture."""
    token = vision.patch * vision.merge
    canvas = np.zeros((size.rows * token, size.columns * token, 3), np.uint8)
    inside = canvas[: size.height, : size.width]
    if pixels.shape[2] == 3:
        inside[:] = pixels
        return canvas
    for first in range(0, size.height, 256):  # in strips: the sums are four times as wide
        strip = pixels[first : first + 256]
        y, x = np.ogrid[first : first + len(strip), : size.width]
        board = np.where((y // _SQUARE + x // _SQUARE) % 2 == 0, np.float32(_LIGHT), np.float32(_DARK))
        cover = strip[..., 3:].astype(np.float32) / 255
        inside[first : first + 256] = cover * strip[..., :3] + (1 - cover) * board[..., None]
    return canvas
