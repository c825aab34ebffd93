"""The names that one content mentions, packed: for each name the lines where it is called or merely stands.

One blob a content, found by way of the full text: a save then writes one row, where a table of names would have
it touch a page for every name.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Mapping

import msgspec

from deskagent.repo.symbols import Symbols

Packed = Mapping[str, tuple[bytes, bytes]]
"""Name → lines of calls, lines of other mentions; four little-endian bytes each."""

_decoder = msgspec.msgpack.Decoder(dict[str, tuple[bytes, bytes]])
_NONE = array("I")


def encode(symbols: Symbols) -> bytes:
    """The blob of a content's names."""
    names = symbols.calls.keys() | symbols.refs.keys()
    return msgspec.msgpack.encode(
        {
            name: (_pack(symbols.calls.get(name, _NONE)), _pack(symbols.refs.get(name, _NONE)))
            for name in names
        }
    )


def decode(blob: bytes) -> Packed:
    """The names of a blob, their lines still packed. msgspec.DecodeError for a damaged one."""
    return _decoder.decode(blob)


def lines(packed: bytes) -> array[int]:
    """Line numbers, from 1, in the order of the file."""
    found = array("I", packed)
    if sys.byteorder == "big":
        found.byteswap()
    return found


def _pack(found: array[int]) -> bytes:
    if sys.byteorder == "big":
        found = found[:]
        found.byteswap()
    return found.tobytes()
