"""A picture file as models are sent it: decoded apart from us, scaled to what every server takes, saved with a session.

What is sent is always written anew, so nothing that the file says beside the picture (place, camera, comments) goes
along, and a damaged or hostile file never becomes part of a conversation.
"""

from __future__ import annotations

import importlib.util
import json
import os
import stat
import sys
from dataclasses import replace
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


def load(raw: bytes, name: str, context: Context, area: Area | None = None) -> tuple[Image, str]:
    """The picture, and what there is to say about how it was made to fit, "" where nothing. name: for people.

    Errors: ToolError in words, for what is no picture, damaged, or too large.
    """
    if why := _no_picture(raw):
        raise ToolError(f"{name} can't be shown: {why}.")
    told, data = _decoded(raw, context, area)
    if error := told.get("error"):
        raise ToolError(f"{name} can't be shown: {error}.")
    image = Image(
        context.keep(data),
        told["media"],
        told["width"],
        told["height"],
        name,
        context.keep(raw) if len(raw) <= _KEPT else "",
    )
    return image, _note(told, area)


def _no_picture(raw: bytes) -> str:
    """Why it is none, in words, where that can be seen; "" where it may be one."""
    start = raw[:2048].lstrip(b"\xef\xbb\xbf \t\r\n")
    if b"<svg" in start and start.startswith(b"<"):
        return "SVG is text that draws: read it as a file, or convert it to PNG (rsvg-convert a.svg -o a.png)"
    if raw[4:8] == b"ftyp" and raw[8:12] in (b"heic", b"heix", b"mif1"):
        return "it is HEIC: convert it to PNG or JPEG (heif-convert)"
    return next((why for magic, why in _ELSE if raw.startswith(magic)), "" if raw else "the file is empty")


def _decoded(raw: bytes, context: Context, area: Area | None) -> tuple[dict, bytes]:
    """What the decoder says, and the picture. Errors: ToolError."""
    found = importlib.util.find_spec("PIL")
    if found is None or found.origin is None:
        raise ToolError("Pictures need Pillow, which isn't installed here: pip install pillow.")
    home = Path(found.origin).parents[1]
    asked = {"edge": EDGE, "least": LEAST, "bytes": BYTES, "pixels": PIXELS, "area": area}
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


def _note(told: dict, area: Area | None) -> str:
    width, height = told["full"]
    notes = [f"{width} × {height} pixels"]
    if area:
        notes.append(f"of them {area[2]} × {area[3]} from {area[0]}, {area[1]}")
    seen = (area[2], area[3]) if area else (width, height)
    if told["width"] < min(seen[0], width) or told["height"] < min(seen[1], height):
        notes.append(f"shown as {told['width']} × {told['height']}")
    if told["frames"] > 1:
        notes.append(f"the first of {told['frames']} frames")
    return ", ".join(notes)
