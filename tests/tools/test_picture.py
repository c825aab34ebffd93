"""Pictures of every kind come out as what servers take, without what the file says beside them, or words say why."""

from __future__ import annotations

import hashlib
import io
import os
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image, ImageOps, PngImagePlugin

from deskagent.terminal.sandbox import find_sandbox
from deskagent.tools import picture
from deskagent.tools.base import Context, Effect, ToolError
from deskagent.tools.image import Image as Look
from deskagent.tools.image import ImageArguments


@pytest.fixture
def kept() -> dict[str, bytes]:
    return {}


@pytest.fixture
def at_work(context: Context, kept: dict[str, bytes]) -> Context:
    def keep(data: bytes) -> str:
        name = hashlib.sha256(data).hexdigest()
        kept[name] = data
        return name

    return replace(context, keep=keep, sandbox=find_sandbox())


def made(image: Image.Image, form: str = "PNG", **more) -> bytes:
    out = io.BytesIO()
    image.save(out, form, **more)
    return out.getvalue()


def plain(mode: str = "RGB", size=(60, 40), colour=None) -> Image.Image:
    return Image.new(mode, size, colour) if colour is not None else Image.new(mode, size)


GIF = made(plain(), "GIF", save_all=True, append_images=[plain(colour=name) for name in ("red", "blue")])


@pytest.mark.parametrize(
    ("raw", "size", "note"),
    [
        (made(plain("1")), (60, 40), "60 × 40 pixels"),
        (made(plain("I;16", colour=40000)), (60, 40), "60 × 40 pixels"),
        (made(plain("CMYK", colour=(9, 99, 9, 9)), "JPEG"), (60, 40), "60 × 40 pixels"),
        (made(plain("LA", colour=(255, 9))), (60, 40), "60 × 40 pixels"),
        (made(plain("F", colour=0.5), "TIFF"), (60, 40), "60 × 40 pixels"),
        (made(plain(), "WEBP"), (60, 40), "60 × 40 pixels"),
        (made(plain(), "BMP"), (60, 40), "60 × 40 pixels"),
        (GIF, (60, 40), "60 × 40 pixels, the first of 3 frames"),
        (made(plain(size=(3, 2))), (32, 32), "3 × 2 pixels"),
        (made(plain(size=(9000, 1))), (1568, 32), "9000 × 1 pixels, shown as 1568 × 32"),
        (made(Image.effect_noise((2400, 1800), 99)), (1568, 1176), "2400 × 1800 pixels, shown as 1568 × 1176"),
    ],
)  # fmt: skip
def test_each_kind_fits_what_servers_take(at_work, kept, raw: bytes, size, note: str) -> None:
    image, said = picture.load(raw, "shot", at_work)
    data = kept[image.blob]
    opened = Image.open(io.BytesIO(data))
    assert (image.width, image.height) == opened.size == size and said == note
    assert opened.mode == "RGB" and image.media == f"image/{(opened.format or '').lower()}"
    assert opened.format in ("PNG", "JPEG") and len(data) <= picture.BYTES
    assert kept[image.original] == raw


def test_it_stands_upright_and_nothing_of_where_it_was_taken_is_sent(at_work, kept) -> None:
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = 6, "taken at home"
    image, said = picture.load(made(plain(size=(60, 40)), "JPEG", exif=exif), "shot", at_work)
    assert (image.width, image.height) == (40, 60) and said == "40 × 60 pixels"
    note = PngImagePlugin.PngInfo()
    note.add_text("Comment", "taken at home")
    other, _ = picture.load(made(plain(), pnginfo=note), "shot", at_work)
    assert b"taken at home" not in kept[image.blob] + kept[other.blob]


@pytest.mark.parametrize("colour", [(255, 255, 255), (0, 0, 0)])
def test_what_is_drawn_on_nothing_shows_against_its_ground(at_work, kept, colour) -> None:
    drawn = plain("RGBA", colour=(0, 0, 0, 0))
    drawn.paste((*colour, 255), (10, 10, 30, 30))
    image, _ = picture.load(made(drawn), "shot", at_work)
    extremes = ImageOps.grayscale(Image.open(io.BytesIO(kept[image.blob]))).getextrema()
    assert extremes[1] - extremes[0] > 150


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"", "empty"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 99, "no picture that can be read"),
        (made(Image.effect_noise((300, 200), 99))[:4000], "damaged or cut short"),
        (made(plain("1", (20000, 20000))), "more than the 100000000"),
        (b'<?xml version="1.0"?>\n<svg xmlns="x"></svg>', "SVG is text"),
        (b"%PDF-1.7", "PDF"),
        (b"%!PS-Adobe-3.0 EPSF-3.0", "PostScript"),
        (b"\0\0\0\x18ftypheic", "HEIC"),
    ],
)
def test_what_can_not_be_shown_is_said(at_work, kept, raw: bytes, says: str) -> None:
    with pytest.raises(ToolError, match=says):
        picture.load(raw, "shot", at_work)
    assert kept == {}


def test_the_tool_shows_a_part_at_full_size(at_work, kept, project: Path) -> None:
    drawn = plain(size=(4000, 100))
    drawn.paste((255, 0, 0), (3000, 0, 3060, 100))
    (project / "wide.png").write_bytes(made(drawn))
    part = ImageArguments(path="wide.png", left=3000, top=10, width=60, height=50)
    assert Look().wish(part, at_work).effect is Effect.READ
    text, image = Look().run(part, at_work).content
    assert text.text == "wide.png: 4000 × 100 pixels, of them 60 × 50 from 3000, 10"  # type: ignore[union-attr]
    opened = Image.open(io.BytesIO(kept[image.blob]))  # type: ignore[union-attr]
    assert opened.size == (60, 50) and opened.getpixel((5, 5)) == (255, 0, 0)
    with pytest.raises(ToolError, match="outside"):
        Look().run(ImageArguments(path="wide.png", left=5000, width=9, height=9), at_work)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda path: os.mkfifo(path), "not a plain file"),
        (lambda path: path.mkdir(), "can't be read|not a plain file"),
        (
            lambda path: os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY), picture.FILE + 1),
            "are read up to",
        ),
        (lambda path: None, "can't be read"),
    ],
)
def test_what_is_no_file_of_its_size_is_said(at_work, project: Path, make, says: str) -> None:
    make(project / "shot.png")
    with pytest.raises(ToolError, match=says):
        Look().run(ImageArguments(path="shot.png"), at_work)


def pixels(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data)).convert("RGB")


def test_what_is_kept_are_the_bytes_that_were_made(at_work, kept) -> None:
    raw = made(Image.effect_noise((2400, 1800), 99))
    once = picture.make(raw, "shot", at_work)
    assert kept == {}
    image = picture.keep(once, "shot", at_work, raw)
    assert kept[image.blob] == once.data and kept[image.original] == raw
    assert (once.whole, once.part, once.drawn) == ((2400, 1800), (0, 0, 2400, 1800), (1568, 1176))
    assert picture.keep(once, "shot", at_work).original == ""
    assert picture.load(raw, "shot", at_work)[0].blob == image.blob


@pytest.mark.parametrize("mode", ["RGB", "P", "LA", "I;16"])
def test_nothing_of_what_is_painted_over_is_sent(at_work, mode: str) -> None:
    """Two pictures that differ only below the paint come out as the same bytes."""
    covered = (
        picture.Edit(picture.Kind.ARROW, (0, 0, 390, 290)),
        picture.Edit(picture.Kind.REDACT, (100, 50, 301, 151)),
    )
    found = []
    for secret in (0, 255):
        drawn = Image.new("L", (400, 300), 128)
        drawn.paste(64, (0, 0, 50, 50))
        drawn.paste(192, (350, 0, 400, 50))
        drawn.paste(secret, (100, 50, 301, 151))
        drawn.paste(255 - secret, (120, 70, 200, 90))
        if mode == "I;16":
            drawn = drawn.point(lambda value: value * 256, "I").convert("I;16")
        found.append(picture.make(made(drawn.convert(mode)), "shot", at_work, edits=covered).data)
    if mode != "I;16":  # whose levels are stretched by what stands in it
        assert found[0] == found[1]
    for data in found:
        assert pixels(data).crop((100, 50, 301, 151)).getcolors() == [(201 * 101, (0, 0, 0))]
        assert pixels(data).getpixel((99, 60)) != (0, 0, 0) != pixels(data).getpixel((301, 60))


def test_marks_and_crops_are_in_pixels_of_the_whole_picture(at_work) -> None:
    raw = made(plain(size=(4000, 3000), colour="white"))
    marks = (
        picture.Edit(picture.Kind.BOX, (1000, 1000, 1400, 1200)),
        picture.Edit(picture.Kind.CROP, (0, 0, 100, 100)),
        picture.Edit(picture.Kind.CROP, (900, 900, 1700, 1300)),
    )
    once = picture.make(raw, "shot", at_work, edits=marks)
    assert once.note == "4000 × 3000 pixels, of them 800 × 400 from 900, 900"
    assert (once.width, once.height) == (800, 400) and once.part == (900, 900, 800, 400)
    shown = pixels(once.data)
    assert shown.getpixel((100, 150)) == shown.getpixel((499, 150)) == (230, 30, 40)
    assert shown.getpixel((99, 150)) == shown.getpixel((300, 200)) == (255, 255, 255)
    sliver = picture.make(raw, "shot", at_work, edits=(picture.Edit(picture.Kind.CROP, (10, 10, 20, 20)),))
    assert (sliver.width, sliver.height, sliver.drawn) == (32, 32, (10, 10))
    with pytest.raises(ToolError, match="outside"):
        picture.make(raw, "shot", at_work, edits=(picture.Edit(picture.Kind.CROP, (5000, 0, 5100, 9)),))
