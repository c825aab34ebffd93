"""Messages as frames: two bytes of length, one of kind, then the body."""

import struct

HEAD = struct.Struct(">HB")
TEXT, BINARY = 1, 2


class FrameError(ValueError):
    pass


def frame(kind, body):
    if len(body) > 0xFFFF:
        raise FrameError("body is too long")
    return HEAD.pack(len(body), kind) + body


def pack(message):
    """The frame of a text or of bytes."""
    if isinstance(message, str):
        return frame(TEXT, message)
    return frame(BINARY, bytes(message))


def unpack(data):
    """(message, rest): the first message of `data`, and what follows it; None while it's incomplete."""
    if len(data) < HEAD.size:
        return None, data
    length, kind = HEAD.unpack_from(data)
    end = HEAD.size + length
    if len(data) < end:
        return None, data
    body = data[HEAD.size:end]
    if kind == TEXT:
        return body.decode("utf-8"), data[end:]
    if kind == BINARY:
        return body, data[end:]
    raise FrameError(f"unknown kind {kind}")
