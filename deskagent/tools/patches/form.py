"""What a patch says, whichever form it was written in."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from deskagent.tools.base import ToolError

Row = tuple[str, str]
"""A sign (space: stays, `-`: goes, `+`: comes) and a line's text without its end."""


class Do(StrEnum):
    UPDATE = "update"
    ADD = "add"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class Hunk:
    """rows: in their order. line: where the first of them is said to stand, from 1; 0 where nothing is said. anchors:
    lines above, the outer ones first, after which it stands. last: it reaches to the end of the file. ends: whether
    the file's last line has an end, before and after; None where nothing is said."""

    rows: tuple[Row, ...]
    line: int = 0
    anchors: tuple[str, ...] = ()
    last: bool = False
    ends: tuple[bool, bool] | None = None

    @property
    def old(self) -> list[str]:
        return [text for sign, text in self.rows if sign != "+"]


@dataclass(frozen=True, slots=True)
class FilePatch:
    """path: as it was written. moved: its new name, "" where it keeps its own. Of a file that is added, the hunks hold
    nothing but what comes."""

    path: str
    do: Do = Do.UPDATE
    moved: str = ""
    hunks: tuple[Hunk, ...] = ()


class PatchError(ToolError):
    """A patch that can't be read, or finds no place."""

    def __init__(self, message: str) -> None:
        super().__init__(f"{message} Nothing was changed.")
