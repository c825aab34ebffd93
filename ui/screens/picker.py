"""One of many, found by a few letters: sessions, models, what was said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from ui.log.fuzzy import score
from ui.log.inert import inert

_MOST = 500


@dataclass(frozen=True, slots=True)
class Row:
    """value: what picking it gives. text, beside: what is shown and searched."""

    value: str
    text: str
    beside: str = ""


@dataclass(frozen=True, slots=True)
class Picked:
    """key: by which it was picked, `enter` or one of the picker's own."""

    value: str
    key: str = "enter"


@dataclass(frozen=True)
class Choice:
    """keys: further ways to pick, and what they do. ranked: the best match first, else as the rows stand."""

    title: str
    rows: Sequence[Row]
    keys: Mapping[str, str] = field(default_factory=dict)
    ranked: bool = True


class Picker(ModalScreen[Picked | None]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Close", show=False),
        Binding("down", "move(1)", show=False, priority=True),
        Binding("up", "move(-1)", show=False, priority=True),
        Binding("pagedown", "move(10)", show=False, priority=True),
        Binding("pageup", "move(-10)", show=False, priority=True),
    ]

    def __init__(self, choice: Choice) -> None:
        super().__init__(classes="picker")
        self._choice = choice
        self._found: list[Row] = []

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Content.styled(self._choice.title, "bold"), classes="title")
            yield Input(placeholder="type to find", select_on_focus=False)
            yield OptionList()
            told = [f"{_named(key)} {says}" for key, says in self._choice.keys.items()]
            keys = " · ".join(["Enter picks", *told, "Esc closes"])
            yield Static(Content.styled(keys, "$faint"), classes="keys")

    def on_mount(self) -> None:
        self.query_one(OptionList).can_focus = False
        self.query_one(Input).focus()
        self._find("")

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self._find(event.value)

    def _find(self, typed: str) -> None:
        rated = [
            (rate, -at, row)
            for at, row in enumerate(self._choice.rows)
            if (rate := score(typed, f"{row.text} {row.beside}")) is not None
        ]
        if typed and self._choice.ranked:
            rated.sort(key=lambda each: each[:2], reverse=True)
        self._found = [row for _, _, row in rated[:_MOST]]
        shown = self.query_one(OptionList)
        shown.clear_options()
        shown.add_options([_option(row) for row in self._found])
        shown.highlighted = 0 if self._found else None

    def action_move(self, by: int) -> None:
        shown = self.query_one(OptionList)
        if self._found:
            shown.highlighted = min(max((shown.highlighted or 0) + by, 0), len(self._found) - 1)

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self._pick(self.query_one(OptionList).highlighted, "enter")

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        self._pick(event.option_index, "enter")

    def on_key(self, event: events.Key) -> None:
        if event.key in self._choice.keys:
            event.stop()
            event.prevent_default()
            self._pick(self.query_one(OptionList).highlighted, event.key)

    def _pick(self, at: int | None, key: str) -> None:
        if at is not None and at < len(self._found):
            self.dismiss(Picked(self._found[at].value, key))


def _option(row: Row) -> Option:
    text = inert(row.text, newlines=False).replace("␊", " ")
    beside = inert(row.beside, newlines=False)
    return Option(Content.assemble((text, "$foreground"), (f"  {beside}" if beside else "", "$muted")))


def _named(key: str) -> str:
    return key.replace("ctrl+", "Ctrl+").replace("alt+", "Alt+")
