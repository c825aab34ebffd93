"""A picture in the terminal, and the part of it that the person has picked, by mouse or keys."""

from __future__ import annotations

import io
import os
from typing import Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.geometry import clamp

from deskagent.tools.picture import Area
from ui.pictures import ways

_ACCENT = (230, 181, 60)


class PictureView(Container, can_focus=True):
    """Shows the bytes that `show` is given. Corners are counted in characters of the picture as it stands here."""

    DEFAULT_CSS = """
    PictureView {
        height: 1fr; align: center middle; overflow: hidden;
        & > * { width: auto; height: auto; }
        &:focus { background-tint: $foreground 4%; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, f"move{at}", show=False) for key, at in
          {"left": (-1, 0, False), "right": (1, 0, False), "up": (0, -1, False), "down": (0, 1, False),
           "shift+left": (-1, 0, True), "shift+right": (1, 0, True),
           "shift+up": (0, -1, True), "shift+down": (0, 1, True)}.items()),
    ]  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._picture: Any = None
        self._start: tuple[int, int] | None = None
        self._end = (0, 0)
        self._dragging = False

    def compose(self) -> ComposeResult:
        return iter(())

    def show(self, data: bytes | None) -> None:
        """data: a PNG or JPEG that was made here; None shows nothing. What was picked is forgotten."""
        from PIL import Image

        self._start, self._dragging = None, False
        self._picture = (
            None if data is None else Image.open(io.BytesIO(data), formats=("PNG", "JPEG")).convert("RGB")
        )
        self._draw()

    def _draw(self) -> None:
        shown = self._drawn()
        if not self.children:
            if shown is None:
                return
            size = ways.cell()
            kind = ways.Way.HALVES if self.app.is_headless else ways.way(os.environ, size)
            self.mount(ways.widget(kind, size, self.app)(shown))
            return
        self._image.image = shown

    @property
    def _image(self) -> Any:
        return self.children[0]

    def _drawn(self) -> Any:
        """The picture, with what is picked tinted."""
        box = self._box()
        if self._picture is None or box is None:
            return self._picture
        from PIL import Image, ImageDraw

        shown = self._picture.copy()
        part = shown.crop(box)
        shown.paste(Image.blend(part, Image.new("RGB", part.size, _ACCENT), 0.45), box)
        width = max(1, max(shown.size) // 200)
        ImageDraw.Draw(shown).rectangle(
            (box[0], box[1], box[2] - 1, box[3] - 1), outline=_ACCENT, width=width
        )
        return shown

    def _cells(self) -> tuple[int, int]:
        size = self._image.content_size if self.children else self.size
        return max(1, size.width), max(1, size.height)

    def _box(self) -> tuple[int, int, int, int] | None:
        """What is picked, in pixels of the picture that is shown: all of the characters in it, the corners' too."""
        if self._start is None or self._picture is None:
            return None
        (width, height), (columns, rows) = self._picture.size, self._cells()
        (left, right), (top, bottom) = (sorted(pair) for pair in zip(self._start, self._end, strict=True))
        return (
            left * width // columns,
            top * height // rows,
            min(width, -(-(right + 1) * width // columns)),
            min(height, -(-(bottom + 1) * height // rows)),
        )

    def picked(self, part: Area, drawn: tuple[int, int]) -> tuple[int, int, int, int] | None:
        """Left, top, right, bottom in pixels of the whole picture, of which `part` is shown, `drawn` pixels large."""
        return None if (box := self._box()) is None else _in_whole(box, part, drawn)

    def line(self, part: Area, drawn: tuple[int, int]) -> tuple[int, int, int, int] | None:
        """From the middle of the character where picking began to the middle of that where it ended."""
        if self._start is None or self._picture is None:
            return None
        (width, height), (columns, rows) = self._picture.size, self._cells()
        x0, y0, x1, y1 = (
            round((at + 0.5) * (height if odd else width) / (rows if odd else columns))
            for odd, at in zip((0, 1, 0, 1), (*self._start, *self._end), strict=True)
        )
        return _in_whole((x0, y0, x1, y1), part, drawn)

    # picking

    def action_move(self, across: int, down: int, extends: bool) -> None:
        if self._picture is None:
            return
        columns, rows = self._cells()
        if self._start is None:
            self._start = self._end = (columns // 2, rows // 2)
        else:
            x, y = self._end
            self._end = clamp(x + across, 0, columns - 1), clamp(y + down, 0, rows - 1)
            if not extends:
                self._start = self._end
        self._draw()

    def _at(self, event: events.MouseEvent) -> tuple[int, int]:
        columns, rows = self._cells()
        region = self._image.content_region
        return (
            clamp(int(event.screen_x) - region.x, 0, columns - 1),
            clamp(int(event.screen_y) - region.y, 0, rows - 1),
        )

    def on_mouse_down(self, event: events.MouseDown) -> None:
        if self._picture is not None and self.children:
            self.capture_mouse()
            self._dragging, self._start = True, self._at(event)
            self._end = self._start
            self._draw()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._dragging and self._at(event) != self._end:
            self._end = self._at(event)
            self._draw()

    def on_mouse_up(self, event: events.MouseUp) -> None:
        self.capture_mouse(False)
        self._dragging = False


def _in_whole(
    box: tuple[int, int, int, int], part: Area, drawn: tuple[int, int]
) -> tuple[int, int, int, int]:
    """From pixels of what is shown to those of the whole picture, rounded away from the middle; within the part."""
    left, top, width, height = part
    x0, y0 = box[0] * width // drawn[0], box[1] * height // drawn[1]
    x1, y1 = -(-box[2] * width // drawn[0]), -(-box[3] * height // drawn[1])
    return (
        left + min(x0, width - 1),
        top + min(y0, height - 1),
        left + max(1, min(x1, width)),
        top + max(1, min(y1, height)),
    )
