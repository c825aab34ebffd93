"""Files of pictures: every kind of pixel, upright; what is none, too large, damaged or moving is refused in words."""

from __future__ import annotations

import io
import struct
import tracemalloc
import zlib

import numpy as np
import pytest

torch = pytest.importorskip("torch")
images = pytest.importorskip("PIL.Image")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from engine.config import K3_VISION  # noqa: E402
from engine.errors import RequestError  # noqa: E402
from engine.vision.files import LARGEST_BYTES, decode  # noqa: E402
from engine.vision.picture import read  # noqa: E402

RED, BLUE = (250, 0, 0), (0, 0, 250)


def saved(image, kind: str = "PNG", **options) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def canvas(image, kind: str = "PNG", **options) -> np.ndarray:
    return read(saved(image, kind, **options), K3_VISION).canvas.numpy()


def claimed(width: int, height: int) -> bytes:
    """A PNG of a few bytes whose header says that it is large."""

    def chunk(tag: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + tag + body + struct.pack(">I", zlib.crc32(tag + body))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")
    )


def halves(mode: str = "RGB"):
    """Left red, right blue, 56 × 28."""
    image = images.new("RGB", (56, 28), RED)
    image.paste(BLUE, (28, 0, 56, 28))
    return image.quantize(8) if mode == "P" else image.convert(mode)


def test_pixels_stand_where_they_were_and_the_rest_is_black() -> None:
    image = images.new("RGB", (30, 20), RED)
    found = read(saved(image), K3_VISION)
    assert (found.width, found.height, found.tokens) == (30, 20, 2)
    assert found.canvas.shape == (28, 56, 3)
    assert (found.canvas[:20, :30].numpy() == RED).all()
    assert not found.canvas[20:].any()
    assert not found.canvas[:, 30:].any()


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "BMP"])
def test_every_kind_is_read(kind: str) -> None:
    found = canvas(halves(), kind).astype(int)
    assert np.abs(found[4:24, 4:24] - RED).max() < 12
    assert np.abs(found[4:24, 32:52] - BLUE).max() < 12


def test_colours_of_every_mode() -> None:
    assert np.abs(canvas(halves("CMYK"), "JPEG", quality=95).astype(int)[4:24, 4:24] - RED).max() < 24
    assert (canvas(images.new("L", (28, 28), 77)) == 77).all()
    assert (canvas(images.new("1", (28, 28), 1)) == 255).all()
    assert (canvas(halves("P"))[:, :28] == RED).all()
    deep = images.fromarray(np.full((28, 28), 0x8012, np.uint16))
    assert (canvas(deep) == 0x80).all(), "the high byte of 16 bits"


def test_transparent_parts_show_a_chessboard() -> None:
    clear = canvas(images.new("RGBA", (28, 28), (0, 0, 0, 0)))
    assert clear[0, 0].tolist() == [255] * 3
    assert clear[0, 8].tolist() == clear[8, 0].tolist() == [180] * 3
    assert clear[8, 8].tolist() == [255] * 3
    half = canvas(images.new("RGBA", (28, 28), (200, 0, 0, 51)))
    assert half[0, 0].tolist() == [int(0.2 * 200 + 0.8 * 255), 204, 204]
    palette = halves("P")
    assert canvas(palette, transparency=palette.getpixel((0, 0)))[0, 8].tolist() == [180] * 3
    assert canvas(images.new("LA", (28, 28), (9, 255)))[0, 0].tolist() == [9] * 3
    tall = canvas(images.new("RGBA", (28, 600), (0, 0, 0, 0)))
    assert (tall[:, :, 0] == np.where((np.arange(616)[:, None] // 8 + np.arange(28) // 8) % 2, 180, 255))[
        :600
    ].all()


def test_a_turned_photo_stands_upright() -> None:
    exif = images.Exif()
    exif[0x0112] = 6  # a quarter to the right
    found = read(saved(halves(), "JPEG", exif=exif, quality=95), K3_VISION)
    assert (found.width, found.height) == (28, 56)
    assert np.abs(found.canvas[4:24, 4:24].numpy().astype(int) - RED).max() < 12
    assert np.abs(found.canvas[32:52, 4:24].numpy().astype(int) - BLUE).max() < 12


def test_a_large_picture_is_made_smaller_the_same_way_each_time(png) -> None:
    from dataclasses import replace

    small = replace(K3_VISION, patches=64)
    data = png(400, 300)
    one, two = read(data, small), read(data, small)
    assert (one.width, one.height, one.tokens) == (400, 300, two.tokens)
    assert one.tokens <= 25
    assert torch.equal(one.canvas, two.canvas)
    assert one.digest == two.digest
    assert one.digest == read(saved(images.open(io.BytesIO(data)), "BMP"), small).digest, (
        "pixels count, not files"
    )
    assert one.digest != read(png(400, 300, seed=1), small).digest


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "no picture of a known kind: PNG"), (b"hello", "no picture"), (b"%PDF-1.4 " * 50, "no picture"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "no picture"),
        (claimed(8193, 8192), "8193 × 8192 pixels: at most"), (claimed(1 << 30, 1 << 30), "pixels: at most"),
        (claimed(12_000, 12_000), "at most"), (claimed(0, 5), "damaged|no picture|nothing to see"),
        (claimed(100, 100), "damaged or cut off"), (b"\x89PNG\r\n\x1a\n", "damaged|no picture"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_what_is_no_picture_is_refused_without_decoding(data: bytes, words: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(RequestError, match=words):
            decode(data)
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_files_too_large_moving_or_of_other_kinds_are_refused() -> None:
    with pytest.raises(RequestError, match="bytes: at most"):
        decode(bytes(LARGEST_BYTES + 1))
    frames = [images.new("RGB", (9, 9), (n * 60, 0, 0)) for n in range(3)]
    for kind in ("GIF", "PNG", "WEBP"):
        with pytest.raises(RequestError, match="moves"):
            decode(saved(frames[0], kind, save_all=True, append_images=frames[1:]))
    for kind in ("TIFF", "PPM", "ICO", "TGA"):
        with pytest.raises(RequestError, match="no picture"):
            decode(saved(halves(), kind))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "BMP"])
def test_a_file_that_was_cut_off_is_refused(kind: str) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)
    whole = saved(images.fromarray(noise), kind)
    for part in (0.9, 0.5, 0.1):
        with pytest.raises(RequestError, match=r"damaged|no picture"):
            decode(whole[: int(len(whole) * part)])


@settings(max_examples=150, deadline=None)
@given(
    kind=st.sampled_from(["PNG", "JPEG", "WEBP", "GIF", "BMP"]),
    changes=st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), min_size=1, max_size=6),
)
def test_damaged_bytes_are_a_picture_or_an_error_in_words(kind: str, changes) -> None:
    raw = bytearray(saved(halves("P" if kind == "GIF" else "RGB"), kind))
    for place, value in changes:
        raw[place % len(raw)] = value
    try:
        image = decode(bytes(raw))
    except RequestError as error:
        assert len(str(error)) <= 300
        return
    assert image.mode in ("RGB", "RGBA")
