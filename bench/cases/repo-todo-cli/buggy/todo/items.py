"""One thing to do."""

from dataclasses import dataclass


@dataclass
class Item:
    text: str
    priority: int = 2
    done: bool = False
