"""What kind of picture some bytes are, and how large: by the first bytes alone, nothing is decoded."""

from __future__ import annotations

import struct
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Seen:
    """media: MIME type. width, height: in pixels."""

    media: str
    width: int
    height: int


def seen(data: bytes) -> Seen | None:
    """None where it is no PNG, GIF, WebP or JPEG, or says no size."""
    try:
        if data.startswith(b"\x89PNG\r\n\x1a\n"):
            found = Seen("image/png", *struct.unpack(">II", data[16:24]))
        elif data[:6] in (b"GIF87a", b"GIF89a"):
            found = Seen("image/gif", *struct.unpack("<HH", data[6:10]))
        elif data[:4] == b"RIFF" and data[8:12] == b"WEBP":
            found = _webp(data)
        elif data.startswith(b"\xff\xd8"):
            found = _jpeg(data)
        else:
            return None
    except (struct.error, IndexError, KeyError):
        return None
    return found if found.width and found.height else None


def _webp(data: bytes) -> Seen:
    kind = data[12:16]
    if kind == b"VP8X":
        wide, high = (int.from_bytes(data[at : at + 3], "little") + 1 for at in (24, 27))
    elif kind == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        wide, high = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    else:
        wide, high = (size & 0x3FFF for size in struct.unpack("<HH", data[26:30]))
    return Seen("image/webp", wide, high)


def _jpeg(data: bytes) -> Seen:
    at = 2
    while True:
        if data[at] != 0xFF:
            raise IndexError(at)
        marker = data[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            high, wide = struct.unpack(">HH", data[at + 5 : at + 9])
            return Seen("image/jpeg", wide, high)
        at += 2 + struct.unpack(">H", data[at + 2 : at + 4])[0]
