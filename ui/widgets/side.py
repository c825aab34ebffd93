"""The side panel: the panes in tabs. Only the one that is looked at is kept up to date."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from textual.containers import Vertical

if TYPE_CHECKING:  # at run time with the first session
    from ui.panes import Session


class Side(Vertical):
    """The panes are made when it is opened for the first time: they take memory, and some look things up."""

    def __init__(self) -> None:
        super().__init__(id="side")
        self._given: tuple[Mapping[str, Any], Session] | None = None
        self._pane = ""

    async def fill(self, readers: Mapping[str, Any], session: Session) -> None:
        """Panes of a session that was opened, in place of those of the one before."""
        await self.remove_children()
        self._given = readers, session
        if self.has_class("open"):
            await self._make()

    async def _make(self) -> None:
        """The panes of the session, unless they are there."""
        given, self._given = self._given, None
        if given is not None:
            from textual.widgets import TabbedContent, TabPane

            from ui.panes import PANES

            tabs = TabbedContent(initial=self._pane)
            for pane in PANES:
                shown = pane.widget(given[0][pane.id], given[1])
                tabs.compose_add_child(TabPane(pane.title, shown, id=pane.id))
            await self.mount(tabs)
        elif self._pane:
            for tabs in self._tabs():
                tabs.active = self._pane
        self._pane = ""
        self.fresh()

    def toggle(self) -> bool:
        """Whether it is open now."""
        self.toggle_class("open")
        opened = self.has_class("open")
        if opened:
            self.call_later(self._make)
        return opened

    async def pane(self, id: str) -> Any:
        """A pane's widget, also while it can't be seen; None where no session is open."""
        await self._make()
        found = self.query(f"TabPane#{id} > *")
        return found.first() if found else None

    def show(self, pane: str) -> None:
        """Opens it at a pane, by its id."""
        self.add_class("open")
        self._pane = pane
        self.call_later(self._make)

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
