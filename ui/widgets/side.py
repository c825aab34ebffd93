"""The side panel: the panes in tabs. Only the one that is looked at is kept up to date."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from textual.containers import Vertical

if TYPE_CHECKING:  # at run time with the first session
    from ui.panes import Session


class Side(Vertical):
    def __init__(self) -> None:
        super().__init__(id="side")

    async def fill(self, readers: Mapping[str, Any], session: Session) -> None:
        """Panes of a session that was opened, in place of those of the one before."""
        from textual.widgets import TabbedContent, TabPane

        from ui.panes import PANES

        await self.remove_children()
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
        for tabs in self._tabs():
            tabs.active = pane
        self.fresh()

    def on_tabbed_content_tab_activated(self) -> None:
        self.fresh()

    def fresh(self) -> None:
        """The readers have taken new events."""
        if not self.has_class("open"):
            return
        for tabs in self._tabs():
            if (pane := tabs.active_pane) is not None:
                for shown in pane.children:
                    if callable(told := getattr(shown, "fresh", None)):
                        told()

    def _tabs(self) -> list[Any]:
        """The one that there is once a session is open."""
        return list(self.query("TabbedContent"))
