"""Server-sent events from bytes, however they are cut.

The HTTP library has a reader too, but of a response: it keeps neither the bytes, which are the record of what a server
said, nor the server's comments, which say that it is alive.
"""

from __future__ import annotations

from dataclasses import dataclass

LIMIT = 64 * 1024 * 1024
"""Bytes of one event at most."""


@dataclass(frozen=True, slots=True)
class Event:
    """data: its lines joined; what isn't UTF-8 is replaced."""

    name: str
    data: str


class TooLong(Exception):
    """An event over the limit."""


class Parser:
    """Lines end in LF, CR or both, and in nothing else: U+2028 and its like are part of a text."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._line: list[bytes] = []
        self._data: list[bytes] = []
        self._name = b""
        self._size = 0
        self._after_cr = False
        self._first = True

    def feed(self, data: bytes) -> list[Event]:
        """The events that end in `data`. Errors: TooLong."""
        if self._after_cr and data.startswith(b"\n"):
            data = data[1:]
            self._after_cr = False
        if data:
            self._after_cr = data.endswith(b"\r")
        found = []
        for piece in data.splitlines(keepends=True):
            self._line.append(piece)
            self._size += len(piece)
            if self._size > self._limit:
                raise TooLong
            if piece.endswith((b"\n", b"\r")):
                line = b"".join(self._line).rstrip(b"\r\n")
                self._line = []
                if event := self._take(line):
                    found.append(event)
        return found

    def _take(self, line: bytes) -> Event | None:
        if self._first:
            line, self._first = line.removeprefix(b"\xef\xbb\xbf"), False
        if not line:
            return self._dispatch()
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._name = value
        if not name:  # a comment
            self._size -= len(line)
        return None

    def _dispatch(self) -> Event | None:
        data, name = self._data, self._name
        self._data, self._name, self._size = [], b"", 0
        if not data:
            return None
        return Event(name.decode("utf-8", "replace"), b"\n".join(data).decode("utf-8", "replace"))
