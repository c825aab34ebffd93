"""Transparent parts of pictures: what shows there is the checkpoint's to say, as is whether anything does."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
images = pytest.importorskip("PIL.Image")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from engine.config import K3_VISION, K25_VISION, Backdrop  # noqa: E402
from engine.errors import ConfigError  # noqa: E402
from engine.vision.backdrop import fill  # noqa: E402
from engine.vision.picture import read  # noqa: E402

CLEAR = images.new("RGBA", (56, 28), (9, 5, 1, 0))


def canvas(image, vision) -> np.ndarray:
    file = io.BytesIO()
    image.save(file, "PNG")
    return read(file.getvalue(), vision).canvas.numpy()


def behind(backdrop: Backdrop | None, **more) -> np.ndarray:
    return canvas(CLEAR, replace(K25_VISION, backdrop=backdrop, **more))


@pytest.mark.parametrize(("pattern", "level"), [("white", 255), ("black", 0), ("gray", 128)])
@pytest.mark.parametrize("resized", [False, True])
def test_one_colour(pattern: str, level: int, resized: bool) -> None:
    assert (behind(Backdrop(pattern, resized=resized)) == level).all()


def test_without_a_backdrop_the_colours_are_those_of_the_file() -> None:
    assert (behind(None) == (9, 5, 1)).all()
    assert K25_VISION.backdrop is None


def test_kimi_k3_shows_its_own_board() -> None:
    assert K3_VISION.backdrop == Backdrop("chessboard", 8, True, 255, 180, resized=True)
    assert canvas(CLEAR, K3_VISION)[0, :17, 0].tolist() == [255] * 8 + [180] * 8 + [255]


def test_before_resizing_the_squares_shrink_with_the_picture() -> None:
    board = Backdrop("chessboard", 14, white=200, gray=100)
    before = behind(board, side=2)  # 56 × 28 becomes 28 × 14
    after = behind(replace(board, resized=True), side=2)
    assert before.shape == after.shape == (28, 28, 3)
    assert after[2, :28, 0].tolist() == [200] * 14 + [100] * 14
    assert [before[2, column, 0] for column in (2, 9, 16, 23)] == [200, 100, 200, 100]


def test_opaque_pictures_are_the_same_behind_whatever(png) -> None:
    data = png(300, 200)
    digests = {
        read(data, replace(K3_VISION, patches=64, backdrop=behind)).digest
        for behind in (None, Backdrop("gray"), Backdrop("chessboard", resized=True))
    }
    assert len(digests) == 1


@settings(max_examples=40, deadline=None)
@given(
    square=st.integers(1, 20), white_first=st.booleans(), levels=st.tuples(st.integers(0, 255), st.integers(0, 255)),
    height=st.sampled_from([1, 7, 255, 256, 257, 600]), width=st.integers(1, 9), seed=st.integers(0, 99),
)  # fmt: skip
def test_a_board_is_what_one_draws_square_by_square(square, white_first, levels, height, width, seed) -> None:
    white, gray = levels
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 4), np.uint8)
    board = np.full((height, width, 3), white, np.uint8)
    for y in range(0, height, square):
        for x in range(0, width, square):
            if ((y + x) // square) % 2 == white_first:
                board[y : y + square, x : x + square] = gray
    cover = pixels[..., 3:].astype(np.float32) / 255.0
    expected = (cover * pixels[..., :3] + (1 - cover) * board).astype(np.uint8)
    found = fill(pixels, Backdrop("chessboard", square, white_first, white, gray))
    assert np.array_equal(found, expected)


@pytest.mark.parametrize(
    "wrong", [{"pattern": "plaid"}, {"pattern": ""}, {"square": 0}, {"white": 256}, {"gray": -1}]
)
def test_what_cannot_be_painted_is_refused(wrong: dict) -> None:
    with pytest.raises(ConfigError, match="config: "):
        replace(Backdrop("chessboard"), **wrong)
