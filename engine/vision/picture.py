"""A picture as the patch encoder takes it."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from engine.config import Backdrop, Vision
from engine.vision.backdrop import fill
from engine.vision.files import decode
from engine.vision.size import fit

if TYPE_CHECKING:
    from PIL.Image import Image


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
    behind = vision.backdrop
    if behind is None:
        image = image.convert("RGB")
    elif not behind.resized:
        image = _opaque(image, behind)
    if image.size != (size.width, size.height):
        from PIL.Image import Resampling

        image = image.resize((size.width, size.height), Resampling.BICUBIC)
    if behind is not None:
        image = _opaque(image, behind)
    token = vision.patch * vision.merge
    canvas = torch.zeros((size.rows * token, size.columns * token, 3), dtype=torch.uint8)
    canvas.numpy()[: size.height, : size.width] = np.asarray(image)  # the rest of the last tokens stays black
    shape = np.array(canvas.shape, dtype="<i8").tobytes()
    digest = blake2b(canvas.numpy().data, digest_size=20, salt=shape[:8], person=shape[8:16]).digest()
    return Picture(width, height, size.tokens, canvas, digest)


def _opaque(image: Image, behind: Backdrop) -> Image:
    from PIL.Image import fromarray

    return image if image.mode == "RGB" else fromarray(fill(np.asarray(image), behind))
