"""Invoices with lines, a discount and tax."""

from dataclasses import dataclass, field

PLACES = 2


@dataclass
class Line:
    text: str
    quantity: float
    price: float

    @property
    def amount(self):
        """Quantity times price, to the cent."""
        return round(self.quantity * self.price, PLACES)


@dataclass
class Invoice:
    tax: float = 0.2
    discount: float = 0.0
    lines: list = field(default_factory=list)

    def add(self, text, quantity, price):
        self.lines.append(Line(text, quantity, price))
        return self

    @property
    def net(self):
        total = sum(line.amount for line in self.lines)
        return round(total * (1 - self.discount), PLACES)

    @property
    def gross(self):
        return round(self.net * (1 + self.tax), PLACES)

    def render(self):
        rows = [f"{line.text:<20}{line.amount:>10.2f}" for line in self.lines]
        rows.append(f"{'total':<20}{self.gross:>10.2f}")
        return "\n".join(rows)
