"""One line of a journal: `{"seq":N,"crc":"8 hex digits","payload":{…}}` and a newline.

`crc` is the CRC-32 of the bytes `N:payload`. Strings may hold anything Python's can: a lone surrogate, which
JSON in UTF-8 can't carry, is written as U+001A and four hex digits, and so is U+001A itself; reading
undoes it.
"""

from __future__ import annotations

import os
import re
import zlib
from typing import Annotated, Any, TypeVar

import msgspec

from deskagent.session.event import Event, Unknown
from deskagent.session.events import KNOWN

T = TypeVar("T")


class Place(msgspec.Struct, frozen=True):
    """Where a record ends: its number, its segment's number, and the offset after its line."""

    seq: int
    segment: int
    offset: int


class Record(msgspec.Struct, frozen=True):
    """An event with its number; `payload` is the event's JSON as it stands in the file, `end` where its line ends."""

    seq: int
    event: Event
    payload: bytes
    end: Place


class Envelope(msgspec.Struct, frozen=True):
    """A line whose checksum is right, its payload not yet looked into."""

    seq: int
    payload: bytes


class _Line(msgspec.Struct):
    seq: Annotated[int, msgspec.Meta(ge=0, lt=1 << 32)]
    crc: str
    payload: msgspec.Raw


_decode_line = msgspec.json.Decoder(_Line).decode
_decode_event = msgspec.json.Decoder(KNOWN).decode
_MARK = "\x1a"
_UNSAFE = re.compile("[\x1a\ud800-\udfff]")
_ESCAPED = re.compile("\x1a([0-9a-f]{4})")


def escape(text: str) -> str:
    """`text` without lone surrogates; `unescape` gives it back."""
    return _UNSAFE.sub(lambda found: f"{_MARK}{ord(found[0]):04x}", text)


def unescape(text: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)


def encode(seq: int, value: Event | dict[str, Any]) -> bytes:
    """The line of `value` at `seq`, its newline included."""
    return line(seq, encode_payload(value))


def line(seq: int, payload: bytes) -> bytes:
    """The line of a payload at `seq`, its newline included."""
    return b'{"seq":%d,"crc":"%08x","payload":%b}\n' % (seq, _crc(seq, payload), payload)


def encode_payload(value: object) -> bytes:
    """`value` as JSON without a newline in it. Paths become strings; TypeError for what JSON can't say."""
    plain = value.raw if isinstance(value, Unknown) else value
    try:
        payload = msgspec.json.encode(plain, enc_hook=_plain)
    except UnicodeEncodeError:
        payload = b""
    # Also true of the harmless text `\u001a`: then the slow way gives the same bytes.
    if not payload or b"\\u001a" in payload:
        payload = msgspec.json.encode(_map(msgspec.to_builtins(plain, enc_hook=_plain), escape))
    return payload


def decode_line(raw: bytes) -> Envelope | None:
    """The envelope in a line, or None if it isn't a whole, undamaged line of a journal."""
    if not raw.endswith(b"\n"):
        return None
    try:
        line = _decode_line(raw)
    except (msgspec.DecodeError, RecursionError):
        return None
    payload = bytes(line.payload)
    return Envelope(line.seq, payload) if line.crc == f"{_crc(line.seq, payload):08x}" else None


def decode_event(payload: bytes) -> Event | None:
    """The event in a payload, `Unknown` if this version can't read it; None if it is no JSON object."""
    if b"\\u001a" not in payload:
        try:
            return _decode_event(payload)
        except (msgspec.DecodeError, RecursionError):
            pass  # of a newer version, then: the generic way below keeps it whole
    try:
        plain = decode_payload(payload)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    try:
        return msgspec.convert(plain, KNOWN)
    except msgspec.ValidationError:
        time = plain.get("time")
        return Unknown(plain, time=float(time) if isinstance(time, int | float) else 0.0)


def decode_payload(payload: bytes) -> dict[str, Any]:
    """A payload as plain values. msgspec.DecodeError if it is no JSON object."""
    plain = msgspec.json.decode(payload, type=dict[str, Any])
    return _map(plain, unescape) if b"\\u001a" in payload else plain


def decode_as(payload: bytes, kind: type[T]) -> T:
    """A payload as a `kind`. msgspec.DecodeError if it is none."""
    if b"\\u001a" not in payload:
        return msgspec.json.decode(payload, type=kind)
    return msgspec.convert(_map(msgspec.json.decode(payload), unescape), kind)


def _crc(seq: int, payload: bytes) -> int:
    return zlib.crc32(payload, zlib.crc32(b"%d:" % seq))


def _plain(value: object) -> object:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"an event can't hold a {type(value).__name__}: {value!r}")


def _map(value: Any, change: Any) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {_map(key, change): _map(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_map(item, change) for item in value]
    return value
