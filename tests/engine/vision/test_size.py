"""How large pictures are to the model: examples of the public preprocessing, and what holds for all."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("torch")

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.config import K3_VISION, K25_VISION
from engine.vision.size import Size, fit


@pytest.mark.parametrize(
    ("width", "height", "patches", "size"),
    [
        (225, 223, 65_536, Size(225, 223, 9, 8)), (3585, 3585, 65_536, Size(3585, 3585, 129, 129)),
        (28, 28, 3, Size(24, 24, 1, 1)), (100_000, 100, 65_536, Size(7167, 7, 256, 1)),
        (1, 1, 65_536, Size(1, 1, 1, 1)),
        (28, 29, 65_536, Size(28, 29, 1, 2)),
    ],
)  # fmt: skip
def test_sizes_are_those_of_the_public_preprocessing(
    width: int, height: int, patches: int, size: Size
) -> None:
    assert fit(width, height, replace(K3_VISION, patches=patches)) == size


@settings(deadline=None)
@given(
    width=st.integers(1, 1 << 17), height=st.integers(1, 1 << 17), vision=st.sampled_from([K3_VISION, K25_VISION]),
    patches=st.integers(16, 1 << 16),
)  # fmt: skip
def test_a_picture_fits_and_keeps_its_shape(width: int, height: int, vision, patches: int) -> None:
    vision = replace(vision, patches=patches)
    size = fit(width, height, vision)
    token, side = vision.patch * vision.merge, vision.side * vision.patch
    assert 1 <= size.width <= min(width, side)
    assert 1 <= size.height <= min(height, side)
    assert 0 <= size.columns * token - size.width < token
    assert 0 <= size.rows * token - size.height < token
    # Partly filled patches aren't counted in the limit: at the edges there may be one more each way.
    columns, rows = max(1, width // vision.patch), max(1, height // vision.patch)
    made = (size.width // vision.patch) * (size.height // vision.patch)
    assert made * columns * rows <= patches * (columns + 1) * (rows + 1)
    if size.width > 1 and size.height > 1:
        assert size.width * height <= (size.height + 1) * width
        assert size.height * width <= (size.width + 1) * height
