"""Decodes a picture and makes it fit what models' servers take, in a process of its own: decoders of pictures are old C
code, and files may be made to blow up. The standard library and Pillow alone.

argv: the folder that Pillow lies in. stdin: a line of JSON {"edge", "least", "bytes", "pixels", "area", "edits"}, then
the file. stdout: a line of JSON {"media", "width", "height", "full", "part", "drawn", "frames"} and the picture, or
{"error"} in words.
"""

import io
import json
import math
import os
import sys

FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "AVIF")
LIGHT, WHITE, DARK, BLACK, RED = 200, (255, 255, 255), (40, 40, 40), (0, 0, 0), (230, 30, 40)
QUALITIES = (90, 80, 65, 50)


def main():
    out = os.dup(1)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)  # what a decoder prints is no part of the answer
    os.dup2(null, 2)
    head, _, raw = sys.stdin.buffer.read().partition(b"\n")
    sys.path.append(sys.argv[1])
    try:
        told, data = work(json.loads(head), raw)
    except MemoryError:
        told, data = {"error": "it takes more memory than a picture may"}, b""
    except Exception as error:  # decoders raise anything at damaged files
        told, data = {"error": f"it is damaged or cut short ({type(error).__name__}: {error})"}, b""
    with os.fdopen(out, "wb") as stream:
        stream.write(json.dumps(told).encode() + b"\n" + data)


def work(asked, raw):
    from PIL import Image, ImageOps, UnidentifiedImageError

    Image.MAX_IMAGE_PIXELS = None  # asked about below, in our own words
    try:
        picture = Image.open(io.BytesIO(raw), formats=FORMATS)
    except UnidentifiedImageError:
        return {"error": f"it is no picture that can be read; {', '.join(FORMATS)} can"}, b""
    if picture.width * picture.height > asked["pixels"]:
        size = f"{picture.width} × {picture.height} pixels"
        return {"error": f"it has {size}, more than the {asked['pixels']} that are decoded"}, b""
    frames, photo = getattr(picture, "n_frames", 1), picture.format == "JPEG"
    picture = ImageOps.exif_transpose(picture)
    full = picture.size
    box = seen(asked, full)
    if box[0] >= box[2] or box[1] >= box[3]:
        return {"error": f"the area lies outside of its {full[0]} × {full[1]} pixels"}, b""
    if asked["edits"]:
        picture = plain(picture, max(full))
        draw(picture, asked["edits"], max(2, max(box[2] - box[0], box[3] - box[1]) // 300))
    if box != (0, 0, *full):
        picture = picture.crop(box)
    picture = plain(picture, asked["edge"])
    drawn = picture.size
    picture = padded(picture, asked["least"])
    media, data = encoded(picture, asked["bytes"], photo)
    size = Image.open(io.BytesIO(data)).size
    told = {"media": media, "width": size[0], "height": size[1], "full": full, "frames": frames}
    told["part"] = box[0], box[1], box[2] - box[0], box[3] - box[1]
    told["drawn"] = [max(1, round(drawn[n] * size[n] / picture.size[n])) for n in (0, 1)]
    return told, data


def seen(asked, full):
    """Left, top, right, bottom of what is shown."""
    left, top, width, height = asked["area"] or (0, 0, *full)
    box = left, top, left + width, top + height
    for edit in asked["edits"]:
        if edit["kind"] == "crop":
            box = edit["at"]
    return max(box[0], 0), max(box[1], 0), min(box[2], full[0]), min(box[3], full[1])


def draw(picture, edits, width):
    """What is painted over comes last: no mark shows through or lies on it."""
    from PIL import ImageDraw

    pen = ImageDraw.Draw(picture)
    for edit in sorted(edits, key=lambda edit: edit["kind"] == "redact"):
        left, top, right, bottom = edit["at"]
        if edit["kind"] == "redact":
            pen.rectangle((left, top, right - 1, bottom - 1), fill=BLACK)
        elif edit["kind"] == "box":
            pen.rectangle((left, top, right - 1, bottom - 1), outline=RED, width=width)
        elif edit["kind"] == "arrow":
            arrow(pen, (left, top), (right, bottom), width)


def arrow(pen, start, end, width):
    """A line with a head of about five widths at its end."""
    across, down = end[0] - start[0], end[1] - start[1]
    length = max(1.0, math.hypot(across, down))
    across, down, head = across / length, down / length, min(6.0 * width, length)
    foot = end[0] - across * head, end[1] - down * head
    pen.line((*start, *foot), fill=RED, width=width)
    wing = head / 2
    pen.polygon(
        (
            end,
            (foot[0] - down * wing, foot[1] + across * wing),
            (foot[0] + down * wing, foot[1] - across * wing),
        ),
        fill=RED,
    )


def plain(picture, edge):
    """Red, green and blue of eight bits, small enough; what is transparent on a ground that it shows against."""
    from PIL import Image

    if picture.mode.startswith(("I", "F")):
        low, high = picture.getextrema()
        picture = picture.convert("F").point(lambda v: (v - low) * (255 / ((high - low) or 1))).convert("L")
    clear = picture.mode in ("RGBA", "LA", "PA", "RGBa", "La") or "transparency" in picture.info
    if clear:
        picture = picture.convert("RGBA")
    elif picture.mode not in ("RGB", "L"):
        picture = picture.convert("RGB")
    picture.thumbnail((edge, edge), Image.Resampling.LANCZOS, reducing_gap=2.0)
    if not clear:
        return picture.convert("RGB")
    shown, weight = picture.convert("L").histogram(picture.getchannel("A").point(lambda a: a and 255)), 0
    for value, count in enumerate(shown):
        weight += value * count
    ground = DARK if weight > LIGHT * sum(shown) else WHITE
    under = Image.new("RGBA", picture.size, (*ground, 255))
    return Image.alpha_composite(under, picture).convert("RGB")


def padded(picture, least):
    """Servers refuse slivers: each side has at least so many pixels."""
    from PIL import Image

    size = max(picture.width, least), max(picture.height, least)
    if size == picture.size:
        return picture
    ground = Image.new("RGB", size, WHITE)
    ground.paste(picture, (0, 0))
    return ground


def encoded(picture, most, photo):
    """As PNG where that is small enough, since letters stay sharp in it; else as JPEG, smaller and smaller."""
    from PIL import Image

    if not photo:
        data = saved(picture, "PNG")
        if len(data) <= most:
            return "image/png", data
    while True:
        for quality in QUALITIES:
            data = saved(picture, "JPEG", quality=quality)
            if len(data) <= most:
                return "image/jpeg", data
        size = max(1, picture.width * 3 // 4), max(1, picture.height * 3 // 4)
        picture = picture.resize(size, Image.Resampling.LANCZOS)


def saved(picture, form, **more):
    """Only what is seen: no place, no camera, no comment of the file goes along."""
    from PIL import Image

    out = io.BytesIO()
    bare = Image.new("RGB", picture.size)
    bare.paste(picture)
    bare.save(out, form, **more)
    return out.getvalue()


if __name__ == "__main__":
    main()
