"""A widget for an item of the transcript."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.widgets import Static

from ui.log.items import Item, Said, Words
from ui.widgets.looks import look
from ui.widgets.markdown import WordsView


class ItemView(Static, can_focus=True):
    """An item as styled text. Enter or a click unfolds it, and folds it again."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,space", "fold", "Fold or unfold", show=False)]

    def __init__(self, item: Item, *, open: bool = False) -> None:
        super().__init__(look(item, open), markup=False, classes=type(item).__name__.lower())
        self.item, self.open = item, open
        self.set_class(open, "-open")

    async def show(self, item: Item) -> None:
        """The item as it is now."""
        self.item = item
        self.update(look(item, self.open))

    def toggle(self, open: bool | None = None) -> None:
        self.open = not self.open if open is None else open
        self.set_class(self.open, "-open")
        self.update(look(self.item, self.open))

    def action_fold(self) -> None:
        self.toggle()

    def on_click(self, event: events.Click) -> None:
        if not isinstance(self.item, Said):
            self.toggle()


View = ItemView | WordsView


def view(item: Item, *, open: bool = False) -> View:
    return WordsView(item) if isinstance(item, Words) else ItemView(item, open=open)
