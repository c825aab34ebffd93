"""A picture file as models are sent it: decoded apart from us, scaled to what every server takes, saved with a session.

What is sent is always written anew, so nothing that the file says beside the picture (place, camera, comments) goes
along, and a damaged or hostile file never becomes part of a conversation. `make` gives the bytes, `keep` puts them
into a session unchanged: who looks at them in between sees what will be sent.
"""

from __future__ import annotations

import importlib.util
import json
import os
import stat
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path

from deskagent.messages import Image
from deskagent.terminal import spawn
from deskagent.terminal.types import Command, End, Limits
from deskagent.tools import picturing
from deskagent.tools.base import Context, ToolError

EDGE, LEAST, BYTES = 1568, 32, 750_000
"""Pixels of the longer side at most and of each side at least, bytes at most. The narrowest limits among servers:
5 MB of base64 and 2,000 pixels where there are many pictures; sides of 28 pixels and more; whole requests of 20 MB."""
FILE, PIXELS = 50 << 20, 100_000_000
"""Bytes of a file, and pixels of a picture, that are looked at."""
_KEPT = 20 << 20
"""Bytes of a file that is kept with the session as it was."""
_SECONDS = 60.0

_MAGIC = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM", b"II*\0", b"MM\0*")
_ELSE = (
    (b"%PDF", "it is a PDF: turn its pages into pictures (pdftoppm -png), or into text (pdftotext)"),
    (b"8BPS", "it is a Photoshop file: export it as PNG"),
    (b"%!PS", "it is PostScript: convert it to PNG"),
)

Area = tuple[int, int, int, int]
"""Left, top, width, height in pixels of the whole picture."""


def is_picture(head: bytes) -> bool:
    """Whether a file that begins so is a picture of pixels, readable here or not."""
    return (
        head.startswith(_MAGIC)
        or (head[:4] == b"RIFF" and head[8:12] == b"WEBP")
        or (head[4:8] == b"ftyp" and head[8:12] in (b"avif", b"avis", b"heic", b"heix", b"mif1"))
    )


def read(path: Path) -> bytes:
    """A file that may be a picture. Errors: ToolError."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
        with open(descriptor, "rb") as file:  # noqa: PTH123
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise ToolError(f"{path.name} is not a plain file.")
            if status.st_size > FILE:
                raise ToolError(f"{path.name} has {status.st_size} bytes; pictures are read up to {FILE}.")
            return file.read(FILE + 1)
    except OSError as error:
        raise ToolError(f"{path.name} can't be read: {error.strerror}.") from error


class Kind(StrEnum):
    """What a person does to a picture. REDACT: paints over, so that nothing of what stood there is sent."""

    CROP = "crop"
    REDACT = "redact"
    BOX = "box"
    ARROW = "arrow"


@dataclass(frozen=True, slots=True)
class Edit:
    """at: left, top, right, bottom of what it is done to, in pixels of the whole picture, the last two not included;
    an arrow goes from the first two to the last two. Of several crops the last one counts."""

    kind: Kind
    at: tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Made:
    """A picture as it will be sent. data: the bytes. note: how it was made to fit, in words. whole: width and height of
    the picture as it was, upright. part: what is shown of it. drawn: width and height that the part has in the picture
    that is sent, where it may have blank margins right and below."""

    data: bytes
    media: str
    width: int
    height: int
    note: str
    whole: tuple[int, int]
    part: Area
    drawn: tuple[int, int]


def make(
    raw: bytes, name: str, context: Context, area: Area | None = None, edits: Sequence[Edit] = ()
) -> Made:
    """The picture in `raw`, a file's contents. name: for people. edits: done before it is scaled.

    Errors: ToolError in words, for what is no picture, damaged, or too large.
    """
    if why := _no_picture(raw):
        raise ToolError(f"{name} can't be shown: {why}.")
    told, data = _decoded(raw, context, area, edits)
    if error := told.get("error"):
        raise ToolError(f"{name} can't be shown: {error}.")
    whole, part, drawn = tuple(told["full"]), tuple(told["part"]), tuple(told["drawn"])
    note = _note(told, cropped=area is not None or any(edit.kind is Kind.CROP for edit in edits))
    return Made(data, told["media"], told["width"], told["height"], note, whole, part, drawn)


def keep(made: Made, name: str, context: Context, original: bytes = b"") -> Image:
    """Saves the picture with the session, byte by byte as it was made. original: the file that it was made of, where
    that may be kept too: it is never sent, but what was painted over in the picture can be seen in it."""
    kept = context.keep(original) if 0 < len(original) <= _KEPT else ""
    return Image(context.keep(made.data), made.media, made.width, made.height, name, kept)


def load(raw: bytes, name: str, context: Context, area: Area | None = None) -> tuple[Image, str]:
    """Makes and keeps a picture, and gives its note. Errors: as `make`."""
    made = make(raw, name, context, area)
    return keep(made, name, context, raw), made.note


def _no_picture(raw: bytes) -> str:
    """Why it is none, in words, where that can be seen; "" where it may be one."""
    start = raw[:2048].lstrip(b"\xef\xbb\xbf \t\r\n")
    if b"<svg" in start and start.startswith(b"<"):
        return "SVG is text that draws: read it as a file, or convert it to PNG (rsvg-convert a.svg -o a.png)"
    if raw[4:8] == b"ftyp" and raw[8:12] in (b"heic", b"heix", b"mif1"):
        return "it is HEIC: convert it to PNG or JPEG (heif-convert)"
    return next((why for magic, why in _ELSE if raw.startswith(magic)), "" if raw else "the file is empty")


def _decoded(raw: bytes, context: Context, area: Area | None, edits: Sequence[Edit]) -> tuple[dict, bytes]:
    """What the decoder says, and the picture. Errors: ToolError."""
    found = importlib.util.find_spec("PIL")
    if found is None or found.origin is None:
        raise ToolError("Pictures need Pillow, which isn't installed here: pip install pillow.")
    home = Path(found.origin).parents[1]
    asked = {"edge": EDGE, "least": LEAST, "bytes": BYTES, "pixels": PIXELS, "area": area}
    asked["edits"] = [asdict(edit) for edit in edits]
    script = Path(picturing.__file__).read_text("utf-8")
    printed: list[bytes] = []
    result = spawn.run(
        Command((sys.executable, "-I", "-S", "-c", script, str(home)), home, dict(context.env)),
        sandbox=context.sandbox,
        policy=replace(context.policy, writable=(), readable=(*context.policy.readable, home)),
        limits=Limits(seconds=_SECONDS, memory=2 << 30, processes=16),
        stdin=json.dumps(asked).encode() + b"\n" + raw,
        on_output=printed.append,
        cancel=context.cancel,
    )
    head, _, data = b"".join(printed).partition(b"\n")
    if result.end is End.EXITED and result.code == 0 and head.startswith(b"{"):
        return json.loads(head), data
    why = {End.TIMEOUT: "it takes too long to decode", End.MEMORY: "it takes too much memory to decode"}
    return {"error": why.get(result.end, f"decoding it ended early ({result.end} {result.detail})")}, b""


def _note(told: dict, *, cropped: bool) -> str:
    (width, height), (left, top, *seen) = told["full"], told["part"]
    notes = [f"{width} × {height} pixels"]
    if cropped:
        notes.append(f"of them {seen[0]} × {seen[1]} from {left}, {top}")
    if told["width"] < seen[0] or told["height"] < seen[1]:
        notes.append(f"shown as {told['width']} × {told['height']}")
    if told["frames"] > 1:
        notes.append(f"the first of {told['frames']} frames")
    return ", ".join(notes)
