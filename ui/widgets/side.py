"""The side panel: the panes in tabs. Only the one that is looked at is kept up to date."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from textual import on
from textual.containers import Vertical
from textual.widgets import Static, TabbedContent, TabPane

from ui.panes import PANES, Session


class Side(Vertical):
    def __init__(self) -> None:
        super().__init__(id="side")

    async def fill(self, readers: Mapping[str, Any], session: Session) -> None:
        """Panes of a session that was opened, in place of those of the one before."""
        await self.remove_children()
        if not PANES:
            await self.mount(Static("There is nothing to show here yet.", markup=False))
            return
        tabs = TabbedContent()
        await self.mount(tabs)
        for pane in PANES:
            await tabs.add_pane(TabPane(pane.title, pane.widget(readers[pane.id], session), id=pane.id))

    def toggle(self) -> bool:
        """Whether it is open now."""
        self.toggle_class("open")
        opened = self.has_class("open")
        self.fresh()
        return opened

    def show(self, pane: str) -> None:
        """Opens it at a pane, by its id."""
        self.add_class("open")
        for tabs in self.query(TabbedContent):
            tabs.active = pane
        self.fresh()

    @on(TabbedContent.TabActivated)
    def fresh(self) -> None:
        """The readers have taken new events."""
        if not self.has_class("open"):
            return
        for tabs in self.query(TabbedContent):
            if (pane := tabs.active_pane) is not None:
                for shown in pane.children:
                    if callable(told := getattr(shown, "fresh", None)):
                        told()
