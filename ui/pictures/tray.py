"""The pictures that go with the message that is being written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deskagent.tools.picture import Edit, Made


@dataclass(frozen=True, slots=True)
class Attached:
    """raw: the file's contents. edits: what the person did to the picture, in order. made: exactly what is sent."""

    name: str
    raw: bytes
    made: Made
    edits: tuple[Edit, ...] = ()

    @property
    def original(self) -> bytes:
        """What may be kept beside it: nothing where the person took something out of the picture."""
        hides = any(edit.kind in ("crop", "redact") for edit in self.edits)
        return b"" if hides else self.raw


class Tray:
    """items: in the order they were attached. Belongs to the app's thread."""

    def __init__(self) -> None:
        self.items: list[Attached] = []

    def name(self, wanted: str) -> str:
        """`wanted`, with a number where that name is taken."""
        names, number, name = {item.name for item in self.items}, 2, wanted
        while name in names:
            name, number = f"{wanted} {number}", number + 1
        return name

    def replace(self, old: Attached, new: Attached) -> bool:
        """Whether the old one was still there."""
        found = old in self.items
        self.items = [new if item is old else item for item in self.items]
        return found

    def taken(self) -> tuple[Attached, ...]:
        """All of them, which go with a message now."""
        items, self.items = tuple(self.items), []
        return items
