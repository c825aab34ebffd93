"""Files to pixels: what is no picture, too large, damaged or moving is refused by name, before its pixels are decoded
where its header tells."""

from __future__ import annotations

import io
import threading
from typing import TYPE_CHECKING

import numpy as np

from engine.errors import RequestError

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP")
LARGEST_BYTES = 64 << 20
LARGEST_PIXELS = 1 << 26
_MOVING = ("PNG", "WEBP", "GIF")
"""Formats of films; a JPEG of several pictures is one with its previews."""
_WIDE = {"I;16", "I;16L", "I;16B", "I;16N", "I"}
_one = threading.Lock()
"""A large picture takes a quarter of a gigabyte while it is decoded: one at a time."""


def decode(data: bytes) -> Image:
    """The picture in a file's bytes, upright, RGB or RGBA with 8 bits a colour. Errors: RequestError."""
    if len(data) > LARGEST_BYTES:
        raise RequestError(
            f"a picture's file of {len(data)} bytes: at most {LARGEST_BYTES}; send a smaller one"
        )
    try:
        import PIL.Image as images
        from PIL.ImageOps import exif_transpose
    except ImportError as error:
        raise RequestError("pictures need Pillow: pip install pillow") from error
    with _one:
        try:
            opened = images.open(io.BytesIO(data), formats=FORMATS)
        except images.UnidentifiedImageError:
            raise RequestError(f"a file is no picture of a known kind: {', '.join(FORMATS)}") from None
        except images.DecompressionBombError:
            raise _too_large("over 178 million pixels") from None
        except Exception as error:  # decoders raise whatever their formats' code stumbles over
            raise _damaged(error) from error
        with opened:
            _check(opened)
            try:
                opened.load()
                return _plain(exif_transpose(opened))
            except RequestError:
                raise
            except Exception as error:
                raise _damaged(error) from error


def _check(opened: Image) -> None:
    width, height = opened.size
    if width < 1 or height < 1:
        raise RequestError(f"a picture of {width} × {height} pixels: there is nothing to see")
    if width * height > LARGEST_PIXELS:
        raise _too_large(f"{width} × {height} pixels")
    try:
        moving = opened.format in _MOVING and getattr(opened, "is_animated", False)
    except Exception as error:
        raise _damaged(error) from error
    if moving:
        raise RequestError("a picture moves: send the frames that matter as pictures of their own")


def _plain(image: Image) -> Image:
    from PIL import Image as images

    if image.mode in _WIDE:  # PIL would cut off at 255
        return images.fromarray((np.asarray(image).clip(0, 65_535) >> 8).astype(np.uint8)).convert("RGB")
    if image.mode == "F":
        raise RequestError("a picture of floating-point numbers: send it as PNG or JPEG")
    seen_through = "A" in image.getbands() or "a" in image.getbands() or "transparency" in image.info
    return image.convert("RGBA" if seen_through else "RGB")


def _too_large(size: str) -> RequestError:
    return RequestError(f"a picture of {size}: at most {LARGEST_PIXELS}; send a smaller one")


def _damaged(error: Exception) -> RequestError:
    return RequestError(f"a picture's file is damaged or cut off: {type(error).__name__}: {error}"[:300])
