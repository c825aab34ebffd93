"""The pictures of a session and of the message that is being written, and one of them to look at and to mark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from deskagent.tools.picture import Area, Edit, Kind
from ui.log.inert import inert
from ui.pictures.view import PictureView

_NONE = """No pictures yet.

v  paste the one on the clipboard
s  capture a screen or window
f  watch a folder for new ones

Or drop a file here, or name it by @ in a message."""
_KEYS = """v paste · s screen · f folder · a attach · d remove
pick by mouse or ←↑↓→: c crop · x redact · b box · w arrow · u undo"""
_MARKS = {"goes": ("●", "$text-accent"), "new": ("○", "$text-warning"), "was": ("·", "$text-muted")}


@dataclass(frozen=True, slots=True)
class Row:
    """A picture in the list. kind: `goes` with the next message, `new` in the watched folder, or `was` in the session.
    key: names it within its kind."""

    kind: str
    key: str
    name: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """What is looked at. data: the very bytes that are sent. part, drawn: as in picture.Made; whole pictures of the
    session have none, and can't be changed."""

    data: bytes
    words: str
    part: Area | None = None
    drawn: tuple[int, int] = (0, 0)


class PicturesPane(Vertical):
    """Asks for what is to be done by messages."""

    DEFAULT_CSS = """
    PicturesPane {
        & > #pictures-told { height: auto; padding: 0 1; color: $text-warning; display: none; }
        & > #pictures { height: auto; max-height: 30%; border: none; padding: 0; background: $surface;
            scrollbar-size-vertical: 1; text-wrap: nowrap; text-overflow: ellipsis; }
        & > #pictures-none { height: 1fr; padding: 1 2; color: $text-muted; display: none; }
        & > #pictures-words { height: auto; padding: 0 1; color: $text-muted; }
        & > #pictures-keys { height: auto; padding: 0 1; color: $text-muted; }
        &.-told > #pictures-told { display: block; }
        &.-none { & > #pictures, & > PictureView, & > #pictures-words, & > #pictures-keys { display: none; } }
        &.-none > #pictures-none { display: block; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "ask('paste')", "paste", show=False),
        Binding("s", "ask('capture')", "capture", show=False),
        Binding("f", "ask('watch')", "watch a folder", show=False),
        Binding("a", "ask('attach')", "attach", show=False),
        Binding("d,delete", "ask('remove')", "remove", show=False),
        Binding("u", "ask('undo')", "undo", show=False),
        Binding("c", "edit('crop')", "crop", show=False),
        Binding("x", "edit('redact')", "redact", show=False),
        Binding("b", "edit('box')", "box", show=False),
        Binding("w", "edit('arrow')", "arrow", show=False),
    ]
    can_focus = True

    class Ask(Message):
        """what: `paste`, `capture`, `watch`; or `attach`, `remove`, `undo` of the row, None for none."""

        def __init__(self, what: str, row: Row | None) -> None:
            super().__init__()
            self.what, self.row = what, row

    class Look(Message):
        """The row is to be shown."""

        def __init__(self, row: Row) -> None:
            super().__init__()
            self.row = row

    class Change(Message):
        """An edit of the row's picture."""

        def __init__(self, row: Row, edit: Edit) -> None:
            super().__init__()
            self.row, self.edit = row, edit

    def __init__(self) -> None:
        super().__init__()
        self._rows: tuple[Row, ...] = ()
        self._shown: Shown | None = None

    def compose(self) -> ComposeResult:
        yield Static(id="pictures-told")
        yield OptionList(id="pictures")
        yield Static(Content(_NONE), id="pictures-none")
        yield PictureView()
        yield Static(id="pictures-words")
        yield Static(Content(_KEYS), id="pictures-keys")

    def on_mount(self) -> None:
        self.list(())

    @property
    def row(self) -> Row | None:
        at = self.query_one(OptionList).highlighted
        return self._rows[at] if at is not None and at < len(self._rows) else None

    def tell(self, words: str) -> None:
        """What holds for all of them; "" for nothing."""
        self.set_class(bool(words), "-told")
        self.query_one("#pictures-told", Static).update(Content(inert(words)))

    def list(self, rows: Sequence[Row], chosen: Row | None = None) -> None:
        """chosen: the row that is looked at from now on; else that of before, as far as it is there."""
        before = chosen or self.row
        listed = self.query_one(OptionList)
        self.set_class(not rows, "-none")
        if tuple(rows) != self._rows:
            self._rows = tuple(rows)
            listed.clear_options()
            listed.add_options([_option(row) for row in rows])
        keys = [(row.kind, row.key) for row in rows]
        mark = (before.kind, before.key) if before else None
        listed.highlighted = keys.index(mark) if mark in keys else (0 if rows else None)
        if not rows:
            self.show(None)

    @on(OptionList.OptionHighlighted)
    def _moved(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        if (row := self.row) is not None:
            self.post_message(self.Look(row))

    def show(self, shown: Shown | None) -> None:
        self._shown = shown
        self.query_one(PictureView).show(shown.data if shown else None)
        self.query_one("#pictures-words", Static).update(Content(inert(shown.words) if shown else ""))

    def action_ask(self, what: str) -> None:
        self.post_message(self.Ask(what, self.row))

    def action_edit(self, kind: str) -> None:
        view, shown, row = self.query_one(PictureView), self._shown, self.row
        if shown is None or row is None:
            return
        if shown.part is None:
            self.notify("Attach it first (a): what was sent stays as it is.", markup=False)
            return
        pick = view.line if kind == Kind.ARROW else view.picked
        if (at := pick(shown.part, shown.drawn)) is None:
            self.notify("Pick a part first: drag over it, or ←↑↓→ and Shift.", markup=False)
            view.focus()
            return
        self.post_message(self.Change(row, Edit(Kind(kind), at)))


def _option(row: Row) -> Option:
    mark, look = _MARKS[row.kind]
    name, about = inert(row.name, newlines=False), inert(row.about, newlines=False)
    return Option(Content.assemble((mark, look), " ", name, (f"  {about}", "$text-muted")))
