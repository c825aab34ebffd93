"""How large a picture is to the model: its own size if that fits, else the largest that does, in whole tokens."""

from __future__ import annotations

import math
from dataclasses import dataclass

from engine.config import Vision


@dataclass(frozen=True, slots=True)
class Size:
    """width, height: pixels that the picture is brought to. columns, rows: of tokens, whose right and lower edges may
    lie beyond it."""

    width: int
    height: int
    columns: int
    rows: int

    @property
    def tokens(self) -> int:
        return self.columns * self.rows


def fit(width: int, height: int, vision: Vision) -> Size:
    """For a picture of so many pixels, at least one each way. Never larger than it is."""
    patch, longest = vision.patch, vision.side * vision.patch
    patches = max(1, width // patch) * max(1, height // patch)
    scale = min(1.0, math.sqrt(vision.patches / patches), longest / width, longest / height)
    width, height = (min(max(1, int(side * scale)), longest) for side in (width, height))
    token = patch * vision.merge
    return Size(width, height, -(-width // token), -(-height // token))
