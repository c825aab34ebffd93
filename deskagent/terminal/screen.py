"""What a terminal shows: pyte behind a small interface, made to bear anything a program prints.

pyte reads 0.2 to 0.5 MB/s. So a `Painter` feeds it on a thread of its own and skips ahead when more comes
than anybody could see; no other thread waits for it.
"""

from __future__ import annotations

import codecs
import logging
import re
import threading
import time
import unicodedata
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyte
from wcwidth import wcwidth

from deskagent.terminal import styled

BACKLOG = 16 << 10
"""Bytes fed at most after a burst: some screens full."""

SCROLLBACK = 2000
"""Lines kept that have left the screen at its top."""

_HELD = 8 << 10  # characters of an unfinished sequence kept for its end
_PRIVATE_ALLOWED = {"set_mode", "reset_mode", "report_device_attributes", "erase_in_line", "erase_in_display"}
_ALTERNATE = {mode << 5 for mode in (47, 1047, 1049)}
_COLUMNS_132 = 3
_CURSOR_KEYS, _BRACKETED_PASTE = 1 << 5, 2004 << 5

# Sequences that pyte doesn't know would leave their last letters on the screen, or mean something else to it.
_UNKNOWN = re.compile(
    r"\x1b[PX^_][^\x1b\x07\x9c]*(?:\x1b\\|\x07|\x9c)"  # DCS, SOS, PM, APC: strings for the terminal
    r"|\x1b\[[<=>][0-?]*[ -/]*[@-~]"  # private to xterm and kitty
    r"|\x1b\[[0-?]*[!-/][ -/]*[@-~]"  # with intermediate bytes: soft reset, cursor shape, …
    r"|\x1b[ *+\-./]."
)
_UNFINISHED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[P\]X^_][^\x1b\x07\x9c]*\x1b?|[ #%()*+\-./])?\Z")
_MODES = re.compile(rb"\x1b\[\?[0-9;]{1,40}[hl]")


@dataclass(frozen=True)
class Snapshot:
    """A screen at one moment. `lines` are padded to the width, `rows` the same in colours; `above` are those that have
    left it at its top, the latest last. `cursor` = (row, column) from 0. cursor_keys, paste: how the program wants the
    cursor keys and pasted text (application mode, bracketed)."""

    lines: tuple[str, ...]
    cursor: tuple[int, int]
    cursor_visible: bool = True
    full_screen: bool = False
    title: str = ""
    rows: tuple[styled.Row, ...] = ()
    above: tuple[styled.Row, ...] = ()
    cursor_keys: bool = False
    paste: bool = False

    @property
    def text(self) -> str:
        """The lines without the blanks at their ends and below the last."""
        return "\n".join(line.rstrip() for line in self.lines).rstrip("\n")


class _Buffer(pyte.Screen):
    """pyte's screen with an alternate buffer, deaf to malformed sequences."""

    def __init__(self, columns: int, lines: int, reply: Callable[[bytes], None] | None) -> None:
        self._reply = reply
        self._main: tuple[dict[int, Any], tuple[int, int]] | None = None
        self.above: deque[styled.Row] = deque(maxlen=SCROLLBACK)
        super().__init__(columns, lines)

    @property
    def full_screen(self) -> bool:
        return self._main is not None

    def reset(self) -> None:
        self._main = None
        super().reset()

    def set_mode(self, *modes: int, **kwargs: Any) -> None:
        if kwargs.get("private"):
            modes = tuple(mode for mode in modes if mode != _COLUMNS_132)  # the terminal keeps its size
        super().set_mode(*modes, **kwargs)
        if self._main is None and self.mode & _ALTERNATE:
            saved = {y: line.copy() for y, line in self.buffer.items()}
            self._main = saved, (self.cursor.y, self.cursor.x)
            self.buffer.clear()

    def reset_mode(self, *modes: int, **kwargs: Any) -> None:
        super().reset_mode(*(mode for mode in modes if mode != _COLUMNS_132), **kwargs)
        if self._main is not None and not self.mode & _ALTERNATE:
            saved, (y, x) = self._main
            self._main = None
            self.buffer.clear()
            for row, line in saved.items():
                self.buffer[row].update(line)
            self.cursor.y, self.cursor.x = min(y, self.lines - 1), min(x, self.columns)

    def index(self) -> None:
        if self._main is None and not self.margins and self.cursor.y == self.lines - 1:
            self.above.append(styled.row(self.buffer[0], self.columns))
        super().index()

    def resize(self, lines: int | None = None, columns: int | None = None) -> None:
        """As terminals do it: what is below the cursor goes first, then lines leave at the top; pyte keeps the end."""
        lines = lines or self.lines
        gone = max(0, self.cursor.y - lines + 1)
        if gone and self._main is None:
            self.above.extend(styled.row(self.buffer[y], self.columns) for y in range(gone))
        if lines < self.lines:
            rows = {y - gone: self.buffer[y] for y in range(gone, gone + lines) if y in self.buffer}
            self.buffer.clear()
            self.buffer.update(rows)
            self.cursor.y -= gone
            self.lines = lines
            self.set_margins()
        super().resize(lines, columns)

    def draw(self, data: str) -> None:
        # pyte drops the rest of a text after a character without width: variation selectors, joiners, controls.
        if not (data.isascii() and data.isprintable()):
            data = "".join(c for c in data if wcwidth(c) > 0 or unicodedata.combining(c))
        super().draw(data)

    def write_process_input(self, data: str) -> None:
        if self._reply is not None:
            self._reply(data.encode())


def _tolerant(name: str) -> Callable[..., None]:
    method = getattr(_Buffer, name)

    def call(self: _Buffer, *args: int, **kwargs: bool) -> None:
        if kwargs.get("private") and name not in _PRIVATE_ALLOWED:
            return
        try:
            method(self, *args, **kwargs)
        except Exception:
            # pyte stumbles over parameters that a sequence can't have, in many ways; a terminal ignores them.
            return

    return call


for _name in set(pyte.Stream.csi.values()):
    setattr(_Buffer, _name, _tolerant(_name))


class Screen:
    """A screen of `rows` by `columns`. Single-threaded.

    `reply` gets the terminal's answers to questions that programs print (cursor position, kind of terminal).
    """

    def __init__(self, rows: int, columns: int, reply: Callable[[bytes], None] | None = None) -> None:
        self._buffer = _Buffer(columns, rows, reply)
        self._stream = pyte.Stream(self._buffer)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""

    def feed(self, data: bytes) -> None:
        """Takes what the program printed, cut anywhere."""
        text = self._held + self._decoder.decode(data)
        unfinished = _UNFINISHED.search(text)
        self._held = ""
        if unfinished and len(text) - unfinished.start() <= _HELD:
            self._held = text[unfinished.start() :]
            text = text[: unfinished.start()]
        elif unfinished:
            text = text[: unfinished.start()]  # a string without an end: dropped, what follows is text again
        for part in re.split(r"(?=\x1b)", _UNKNOWN.sub("", text)):
            try:
                self._stream.feed(part)
            except ValueError:
                continue  # digits that are no number: the parser has reset itself, the next part starts afresh

    def skip(self) -> None:
        """Tells that bytes were left out: what was unfinished stays so."""
        self._held = ""
        self._decoder.reset()
        self._stream.feed("\x18\x1b[m")

    def resize(self, rows: int, columns: int) -> None:
        self._buffer.resize(rows, columns)
        self._buffer.ensure_hbounds()
        self._buffer.ensure_vbounds()

    def snapshot(self) -> Snapshot:
        """What it shows now."""
        buffer = self._buffer
        rows, lines = [], []
        for y in range(buffer.lines):
            cells = buffer.buffer[y]
            rows.append(styled.row(cells, buffer.columns))
            blanks = buffer.columns - min(max(cells, default=-1) + 1, buffer.columns)
            lines.append(styled.text(rows[-1]) + " " * blanks)
        return Snapshot(
            lines=tuple(lines),
            cursor=(buffer.cursor.y, min(buffer.cursor.x, buffer.columns - 1)),
            cursor_visible=not buffer.cursor.hidden,
            full_screen=buffer.full_screen,
            title=buffer.title,
            rows=tuple(rows),
            above=tuple(buffer.above),
            cursor_keys=_CURSOR_KEYS in buffer.mode,
            paste=_BRACKETED_PASTE in buffer.mode,
        )


class Painter:
    """Feeds a screen on a thread of its own. `on_change` is called there after each change."""

    def __init__(
        self,
        size: tuple[int, int],
        reply: Callable[[bytes], None] | None = None,
        on_change: Callable[[Snapshot], None] | None = None,
    ) -> None:
        self._screen = Screen(*size, reply)
        self._on_change = on_change
        self._snapshot = self._screen.snapshot()
        self._pending = bytearray()
        self._skipped = False
        self._size: tuple[int, int] | None = None
        self._busy = False
        self._closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._paint, name="screen", daemon=True)
        self._thread.start()

    def offer(self, data: bytes | memoryview) -> None:
        """Takes printed bytes; never waits for the screen."""
        with self._changed:
            self._pending += data
            if len(self._pending) > 2 * BACKLOG:
                dropped = bytes(self._pending[:-BACKLOG])
                # Modes outlive the text around them: an editor that came up in a burst is still full-screen.
                self._pending[:-BACKLOG] = b"".join(_MODES.findall(dropped)[-64:])
                self._skipped = True
            self._changed.notify_all()

    def resize(self, rows: int, columns: int) -> None:
        with self._changed:
            self._size = (rows, columns)
            self._changed.notify_all()

    @property
    def snapshot(self) -> Snapshot:
        """The screen as last painted."""
        return self._snapshot

    def settle(self, timeout: float) -> Snapshot:
        """The screen once all offered bytes are painted, or after `timeout` seconds."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._closed or not (self._pending or self._size or self._busy), timeout
            )
        return self._snapshot

    def _idle(self) -> bool:
        return self._closed or not (self._pending or self._size or self._busy)

    def _paint(self) -> None:
        while True:
            with self._changed:
                self._busy = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._pending or self._size or self._closed)
                if self._closed:
                    return
                data, size, skipped = bytes(self._pending), self._size, self._skipped
                self._pending.clear()
                self._size, self._skipped, self._busy = None, False, True
            began = time.monotonic()
            if size:
                self._screen.resize(*size)
            if skipped:
                self._screen.skip()
            self._screen.feed(data)
            self._snapshot = self._screen.snapshot()
            if self._on_change:
                try:
                    self._on_change(self._snapshot)
                except Exception:
                    # A listener's fault must not freeze the screen for everybody else.
                    logging.getLogger(__name__).exception("a listener for screen changes failed")
            # Parsing holds the interpreter, which the reader of the terminal needs: a fifth of it at most.
            rest = 4 * (time.monotonic() - began)
            with self._changed:
                self._changed.wait_for(lambda: self._closed, rest if rest > 0.02 else 0)

    def close(self) -> None:
        """Stops painting; the last snapshot stays."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if threading.current_thread() is not self._thread:
            self._thread.join()
