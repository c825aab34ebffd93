"""The items of a transcript in their order, and which of them changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ui.log.items import Item


class Listed:
    """items: in order. changed: keys of those that are new or other since `seen`. moved: some went away since then."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.changed: set[str] = set()
        self.moved = False
        self._at: dict[str, int] = {}

    def seen(self) -> None:
        """Everything up to now is shown."""
        self.changed, self.moved = set(), False

    def get(self, key: str) -> Item | None:
        at = self._at.get(key)
        return None if at is None else self.items[at]

    def index(self, key: str) -> int:
        """Where the item stands. Errors: KeyError."""
        return self._at[key]

    def _put(self, item: Item) -> None:
        """At the end, or in the place of the item with its key."""
        at = self._at.get(item.key)
        if at is None:
            self._at[item.key] = len(self.items)
            self.items.append(item)
        elif self.items[at] == item:
            return
        else:
            self.items[at] = item
        self.changed.add(item.key)

    def _keep(self, stays: Callable[[Item], bool]) -> None:
        """Takes out the others."""
        kept = [item for item in self.items if stays(item)]
        if len(kept) < len(self.items):
            self.items = kept
            self._at = {item.key: at for at, item in enumerate(kept)}
            self.moved = True
