"""A changed file's diff on the screen: only the rows in view are drawn, so its length doesn't matter."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click, Resize
from textual.geometry import Size
from textual.highlight import highlight
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style

from deskagent.agent.reviewing import Changed, Hunk
from ui.panes.diff_rows import Row, differing, rows, text

WIDE = 96
"""Columns from which both sides stand beside each other."""
_COLOURED = 300_000
"""Characters of a file that gets syntax colours."""
_LINE = 2000
"""Characters of a line that are shown."""


class DiffView(ScrollView, can_focus=True):
    """Shows one file; one of its hunks is the current one. `show` gives it another file."""

    DEFAULT_CSS = """
    DiffView {
        background: $surface;
        & > .diff--number { color: $text-muted; }
        & > .diff--head { color: $text-muted; background: $boost; }
        & > .diff--current { color: $text; background: $primary 25%; text-style: bold; }
        & > .diff--added { background: $success 14%; }
        & > .diff--removed { background: $error 14%; }
        & > .diff--added-part { background: $success 38%; }
        & > .diff--removed-part { background: $error 38%; }
        & > .diff--none { background: $boost; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"diff--{name}"
        for name in (
            "number",
            "head",
            "current",
            "added",
            "removed",
            "added-part",
            "removed-part",
            "none",
        )
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n,right_square_bracket", "hunk(1)", "next hunk"),
        Binding("p,left_square_bracket", "hunk(-1)", "previous hunk"),
        Binding("a", "keep", "keep"),
        Binding("r", "reject", "take back"),
        Binding("s", "beside", "side by side"),
    ]

    class Keep(Message):
        """The person keeps the hunk, or hasn't decided about it after all."""

        def __init__(self, file: Changed, hunk: Hunk, kept: bool) -> None:
            super().__init__()
            self.file, self.hunk, self.kept = file, hunk, kept

    class Reject(Message):
        """The person takes the hunk back."""

        def __init__(self, file: Changed, hunk: Hunk) -> None:
            super().__init__()
            self.file, self.hunk = file, hunk

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.file: Changed | None = None
        self.current = 0
        self.beside: bool | None = None
        """Side by side or not, as the person chose; None: by the width."""
        self._rows: list[Row] = []
        self._texts: tuple[list[str], list[str]] = ([], [])
        self._lines: tuple[list[Content], list[Content]] = ([], [])
        self._digits = 1
        self._longest = 0

    def show(self, file: Changed | None) -> None:
        """Another file, or the same one as it is now: then the place in it stays."""
        same = file is not None and self.file is not None and file.path == self.file.path
        self.file = file
        self._texts = (text(file.before), text(file.after)) if file and not file.binary else ([], [])
        self._lines = tuple([Content(line[:_LINE]) for line in side] for side in self._texts)  # type: ignore[assignment]
        self._digits = len(str(max(1, *map(len, self._texts))))
        self.current = min(self.current, max(0, len(file.hunks) - 1)) if same and file else 0
        self._lay_out()
        if not same:
            self.scroll_to(0, 0, animate=False)
        if file and sum(len(line) for side in self._texts for line in side) <= _COLOURED:
            # After what is shown at once: a lexer takes its time.
            self.run_worker(lambda: self._colour(file), thread=True, exclusive=True, group="colours")

    @property
    def hunk(self) -> Hunk | None:
        """The current one."""
        hunks = self.file.hunks if self.file else ()
        return hunks[self.current] if self.current < len(hunks) else None

    @property
    def is_beside(self) -> bool:
        wide = self.size.width >= WIDE if self.beside is None else self.beside
        return wide and self.file is not None and self.file.before is not None and self.file.after is not None

    def _colour(self, file: Changed) -> None:
        sides = tuple(_coloured(file.path, lines) for lines in self._texts)

        def take() -> None:
            if self.file is file and tuple(map(len, sides)) == tuple(map(len, self._lines)):
                self._lines = sides  # type: ignore[assignment]
                self.refresh()

        self.app.call_from_thread(take)

    def on_resize(self, event: Resize) -> None:
        self._lay_out()

    def _lay_out(self) -> None:
        if self.file is None or self.file.binary:
            self._rows = []
        else:
            self._rows = rows(self.file, beside=self.is_beside)
        self._longest = max((line.cell_length for side in self._lines for line in side), default=0)
        width = 0 if self.is_beside else self._gutter + self._longest
        self.virtual_size = Size(width, len(self._rows))
        self.refresh()

    @property
    def _gutter(self) -> int:
        return self._digits + 3 if self.is_beside else 2 * self._digits + 4

    # --- drawing

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        number = y + self.scroll_offset.y
        base = self.visual_style
        if self.file is None or self.file.binary:
            words = (
                ""
                if self.file is None
                else "  It holds no text, so it is kept or taken back as a whole (a, r)."
            )
            return self._strip(Content(words if y == 1 else ""), base, width)
        if number >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        row = self._rows[number]
        if row.head:
            return self._head(row, width)
        if row.gap:
            return self._strip(Content(f"{'⋮':>{self._digits}}"), self._look("number"), width)
        if not self.is_beside:
            return self._inline(row, width)
        left = (width - 1) // 2
        divider = Strip([Segment("│", self._look("number").rich_style)])
        return Strip.join(
            [self._side(row, 0, left), divider, self._side(row, 1, width - left - 1)]
        ).simplify()

    def _head(self, row: Row, width: int) -> Strip:
        assert self.file is not None
        hunk = self.file.hunks[row.hunk]
        current = row.hunk == self.current
        first, last = hunk.new[0] + 1, hunk.new[1]
        where = f"line {first}" if last <= first else f"lines {first}–{last}"
        mark = "▶" if current else " "
        added, removed = hunk.new[1] - hunk.new[0], hunk.old[1] - hunk.old[0]
        words = f"{mark} {row.hunk + 1}/{len(self.file.hunks)}  {where}  +{added} −{removed}"
        if hunk.kept:
            words += "  ✓ kept"
        return self._strip(Content(words), self._look("current" if current else "head"), width)

    def _inline(self, row: Row, width: int) -> Strip:
        side = 1 if row.old is None or row.hunk < 0 else 0
        line = row.new if side else row.old
        assert line is not None
        look = self._look(("removed", "added")[side]) if row.hunk >= 0 else self.visual_style
        numbers = (row.old, row.new) if row.hunk < 0 else ((row.old, None) if side == 0 else (None, row.new))
        gutter = " ".join(f"{'' if n is None else n + 1:>{self._digits}}" for n in numbers)
        mark = "−+"[side] if row.hunk >= 0 else " "
        head = Content(f"{gutter} {mark} ").stylize(self._look("number"), 0, len(gutter))
        return self._line(head, self._lines[side][line], look, width)

    def _side(self, row: Row, side: int, width: int) -> Strip:
        line = (row.old, row.new)[side]
        if line is None:
            return self._strip(Content(""), self._look("none"), width)
        shown = self._lines[side][line]
        look = self.visual_style
        if row.hunk >= 0:
            look = self._look(("removed", "added")[side])
            if row.old is not None and row.new is not None:
                spans = differing(self._texts[0][row.old][:_LINE], self._texts[1][row.new][:_LINE])[side]
                part = self._look(("removed-part", "added-part")[side])
                for start, end in spans:
                    shown = shown.stylize(Style(background=part.background), start, end)
        mark = "−+"[side] if row.hunk >= 0 else " "
        head = Content(f"{line + 1:>{self._digits}} {mark} ").stylize(self._look("number"), 0, self._digits)
        return self._line(head, shown, look, width)

    def _look(self, name: str) -> Style:
        return self.get_visual_style(f"diff--{name}")

    def _line(self, head: Content, line: Content, look: Style, width: int) -> Strip:
        gutter = self._strip(head, look, head.cell_length)
        room = max(0, width - head.cell_length)
        whole = self._strip(line, look, max(line.cell_length, self.scroll_offset.x + room))
        return Strip.join([gutter, whole.crop(self.scroll_offset.x, self.scroll_offset.x + room)])

    @staticmethod
    def _strip(line: Content, look: Style, width: int) -> Strip:
        return Strip(line.render_segments(look)).adjust_cell_length(width, look.rich_style)

    # --- acting

    def action_hunk(self, step: int) -> None:
        if self.file and self.file.hunks:
            self.go_to(max(0, min(len(self.file.hunks) - 1, self.current + step)))

    def go_to(self, hunk: int) -> None:
        """Makes the hunk of this number the current one, and shows it."""
        self.current = hunk
        at = next((n for n, row in enumerate(self._rows) if row.head and row.hunk == hunk), 0)
        last = max((n for n, row in enumerate(self._rows) if row.hunk == hunk), default=at)
        top, height = self.scroll_offset.y, self.size.height
        if at < top or last >= top + height:
            self.scroll_to(y=max(0, at - 2), animate=False)
        self.refresh()

    def action_keep(self) -> None:
        if self.file and (hunk := self.hunk):
            self.post_message(self.Keep(self.file, hunk, not hunk.kept))
            if not hunk.kept and self.current + 1 < len(self.file.hunks):
                self.go_to(self.current + 1)

    def action_reject(self) -> None:
        if self.file and (hunk := self.hunk):
            self.post_message(self.Reject(self.file, hunk))

    def action_beside(self) -> None:
        self.beside = not self.is_beside
        self._lay_out()
        self.go_to(self.current)

    def on_click(self, event: Click) -> None:
        at = event.y + self.scroll_offset.y
        if at < len(self._rows) and self._rows[at].hunk >= 0:
            self.current = self._rows[at].hunk
            self.refresh()


def _coloured(path: str, lines: list[str]) -> list[Content]:
    shown = [line[:_LINE] for line in lines]
    coloured = highlight("\n".join(shown) + "\n", path=path).split("\n")
    plain = [Content(line) for line in shown]
    # A lexer that counts lines otherwise must not put anything beside its place.
    return [
        one if one.plain == other.plain else other for one, other in zip(coloured, plain, strict=False)
    ] or plain
