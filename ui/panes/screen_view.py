"""What a program's terminal shows, live, with the lines that left it above; the person may type into it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from functools import lru_cache
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.events import Key, Paste, Resize
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from deskagent.terminal.pty import PtySession
from deskagent.terminal.screen import Snapshot
from deskagent.terminal.styled import Look, Row
from deskagent.terminal.text import printable
from ui.panes import keys

_FRAME = 1 / 30
"""Seconds between two drawings at least."""
_NAMES = {"brown": "yellow", "brightbrown": "bright_yellow"}
_HEX = re.compile("[0-9a-f]{6}")
_NOTHING = Snapshot((), (0, 0), cursor_visible=False)


class ScreenView(ScrollView, can_focus=True):
    """Follows one PtySession (`show`), at its end unless the person scrolled up. Only rows in view are drawn, and no
    byte of output is parsed here: a session's own thread does that, and leaves out what nobody could see."""

    DEFAULT_CSS = """
    ScreenView { background: $background; scrollbar-size: 1 1; }
    ScreenView.-taken { border-left: thick $warning; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("end,G", "scroll_end", "to the end", show=False),
        Binding("home,g", "scroll_home", "to the start", show=False),
    ]

    class Typed(Message):
        """What the person typed; only while it is their turn."""

        def __init__(self, data: bytes) -> None:
            super().__init__()
            self.data = data

    class GiveBack(Message):
        """The person's turn is to end."""

    class Sized(Message):
        """The view has this many rows and columns."""

        def __init__(self, rows: int, columns: int) -> None:
            super().__init__()
            self.rows, self.columns = rows, columns

    class _Changed(Message):
        pass

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._session: PtySession | None = None
        self._stop: Callable[[], None] = lambda: None
        self._snapshot = _NOTHING
        self._rows: tuple[Row, ...] = ()
        self._above = 0
        self._told = False
        self._drawn = 0.0
        self._waits = False

    @property
    def taken(self) -> bool:
        """It is the person's turn: keys go to the program."""
        return self.has_class("-taken")

    @taken.setter
    def taken(self, taken: bool) -> None:
        self.set_class(taken, "-taken")
        self.refresh()

    @property
    def takes_keys(self) -> bool:
        """Even those that the app has a use for."""
        return self.taken

    def show(self, session: PtySession | None) -> None:
        """Follows another session, or none."""
        if session is self._session:
            return
        self._stop()
        self._session, self._snapshot = session, _NOTHING
        self._stop = session.watch(self._tell) if session else lambda: None
        self._draw()
        self.scroll_end(animate=False)

    def on_unmount(self) -> None:
        self._stop()

    def on_resize(self, event: Resize) -> None:
        self._draw()
        self.post_message(self.Sized(self.size.height, self.size.width))

    # --- what it shows

    def _tell(self) -> None:
        """On a thread of the session's: one message is under way at most."""
        if not self._told:
            self._told = True
            self.post_message(self._Changed())

    def on_screen_view__changed(self, event: ScreenView._Changed) -> None:
        event.stop()
        if self._waits:
            return
        left = self._drawn + _FRAME - time.monotonic()
        if left <= 0:
            self._draw()
        else:
            self._waits = True
            self.set_timer(left, self._draw)

    def _draw(self) -> None:
        self._waits, self._told = False, False
        self._drawn = time.monotonic()
        self._snapshot = shot = self._session.screen() if self._session else _NOTHING
        above = () if shot.full_screen else shot.above
        used = max((n + 1 for n, row in enumerate(shot.rows) if row), default=0)
        if not shot.full_screen:
            used = max(used, shot.cursor[0] + 1 if self.taken else 0)
        at_end = self.scroll_offset.y >= self.max_scroll_y
        self._above = len(above)
        self._rows = above + shot.rows[: len(shot.rows) if shot.full_screen else used]
        columns = max((_width(row) for row in self._rows[-self.size.height * 2 :]), default=0)
        self.virtual_size = Size(columns if columns > self.size.width else 0, len(self._rows))
        if at_end or self.taken:
            self.scroll_to(y=self.max_scroll_y, animate=False, force=True)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        number, width, left = y + self.scroll_offset.y, self.size.width, self.scroll_offset.x
        base = self.rich_style
        if number >= len(self._rows):
            strip = Strip.blank(left + width, base)
        else:
            segments = [Segment(_inert(data), base + _style(look)) for data, look in self._rows[number]]
            strip = Strip(segments).extend_cell_length(left + width, base)
        row, column = self._snapshot.cursor
        if self.taken and self._snapshot.cursor_visible and number == self._above + row:
            under = strip.crop(column, column + 1)
            cursor = Strip([Segment(part.text, (part.style or base) + Style(reverse=True)) for part in under])
            strip = Strip.join([strip.crop(0, column), cursor, strip.crop(column + 1)])
        return strip.crop(left, left + width)

    # --- the person's turn

    def on_key(self, event: Key) -> None:
        if not self.taken:
            return
        event.stop()
        event.prevent_default()
        if event.key == keys.GIVE_BACK:
            self.post_message(self.GiveBack())
        elif data := keys.typed(event, cursor_keys=self._snapshot.cursor_keys):
            self.post_message(self.Typed(data))

    def on_paste(self, event: Paste) -> None:
        if not self.taken:
            return
        event.stop()
        # An end mark within would let pasted text pass for keys.
        data = event.text.replace("\x1b[201~", "").replace("\n", "\r").encode("utf-8", "replace")
        self.post_message(self.Typed(b"\x1b[200~" + data + b"\x1b[201~" if self._snapshot.paste else data))


def _width(row: Row) -> int:
    return sum(len(data) if data.isascii() else cell_len(data) for data, _ in row)


def _inert(data: str) -> str:
    """Cells without letters that would disturb what stands beside them; as wide as before."""
    if data.isascii() and data.isprintable():
        return data
    return "".join(c if printable(c) == c and c != "\t" else "�" * max(1, cell_len(c)) for c in data)


@lru_cache(4096)
def _style(look: Look) -> Style:
    return Style(
        color=_colour(look.fg),
        bgcolor=_colour(look.bg),
        bold=look.bold or None,
        italic=look.italic or None,
        underline=look.underline or None,
        strike=look.strike or None,
        reverse=look.reverse or None,
    )


def _colour(name: str) -> str | None:
    if name == "default":
        return None
    if _HEX.fullmatch(name):
        return f"#{name}"
    return _NAMES.get(name) or name.replace("bright", "bright_")
