"""Events."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Event:
    name: str
    data: dict = field(default_factory=dict)

    def matches(self, pattern):
        """`order.*` matches order.paid, `*` matches everything."""
        if pattern == "*":
            return True
        if pattern.endswith(".*"):
            return self.name.startswith(pattern[:-1])
        return self.name == pattern
