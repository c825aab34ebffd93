"""Stock levels of a small shop."""

from dataclasses import dataclass, field


class OutOfStock(Exception):
    """There is not enough of an item."""


@dataclass
class Item:
    sku: str
    on_hand: int = 0
    reserved: int = 0
    ordered: int = 0

    @property
    def available(self):
        """What can still be promised to a customer."""
        return self.on_hand - self.ordered


@dataclass
class Stock:
    items: dict = field(default_factory=dict)

    def receive(self, sku, count):
        item = self.items.setdefault(sku, Item(sku))
        item.on_hand += count
        item.ordered = max(0, item.ordered - count)
        return item

    def order(self, sku, count):
        self.items.setdefault(sku, Item(sku)).ordered += count

    def reserve(self, sku, count):
        """Sets `count` pieces aside; OutOfStock if fewer are free."""
        item = self.items[sku]
        if item.available < count:
            raise OutOfStock(f"{sku}: {item.available} left, {count} wanted")
        item.reserved += count

    def ship(self, sku, count):
        """Reserved pieces leave the shop."""
        item = self.items[sku]
        if count > item.reserved:
            raise OutOfStock(f"{sku}: only {item.reserved} reserved")
        item.reserved -= count
        item.on_hand -= count
