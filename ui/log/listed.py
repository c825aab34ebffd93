"""The items of a transcript in their order, found by their keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ui.log.items import Item


class Listed:
    """items: in order. Each is replaced by another one where it changes; a key that went away may come back elsewhere,
    and as an item of another kind."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self._at: dict[str, int] = {}

    def get(self, key: str) -> Item | None:
        at = self._at.get(key)
        return None if at is None else self.items[at]

    def index(self, key: str) -> int | None:
        """Where the item stands; None for one that isn't there, or not any more."""
        return self._at.get(key)

    def _put(self, item: Item) -> None:
        """At the end, or in the place of the item with its key."""
        at = self._at.get(item.key)
        if at is None:
            self._at[item.key] = len(self.items)
            self.items.append(item)
        elif self.items[at] != item:
            self.items[at] = item

    def _keep(self, stays: Callable[[Item], bool]) -> None:
        """Takes out the others."""
        kept = [item for item in self.items if stays(item)]
        if len(kept) < len(self.items):
            self.items = kept
            self._at = {item.key: at for at, item in enumerate(kept)}
