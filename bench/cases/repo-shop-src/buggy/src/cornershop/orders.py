"""Orders as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Line:
    name: str
    cents: int
    count: int = 1

    @property
    def total(self) -> int:
        return self.cents * self.count


@dataclass
class Order:
    lines: list[Line] = field(default_factory=list)
    coupon: str | None = None
    business: bool = False

    @property
    def total(self) -> int:
        return sum(line.total for line in self.lines)
