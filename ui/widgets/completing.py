"""What could stand where the cursor is: commands behind a slash, files behind an @. Above the composer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from deskagent.errors import DeskagentError
from ui.log.fuzzy import best
from ui.log.inert import inert

_MOST = 8
_MOST_FILES = 50_000
_COMMAND = re.compile(r"/([\w-]*)\Z")
_FILE = re.compile(r"(?:^|\s)@([^\s@\"']*)\Z")


@dataclass(frozen=True, slots=True)
class Wanted:
    """kind: `/` or `@`. typed: what stands behind it."""

    kind: str
    typed: str


def wanted(before: str, first_line: bool) -> Wanted | None:
    """What could be completed, by the text of the line before the cursor."""
    if first_line and (found := _COMMAND.match(before)):
        return Wanted("/", found[1])
    if found := _FILE.search(before):
        return Wanted("@", found[1])
    return None


def files_of(project: Path) -> list[str]:
    """Names of a project's files, as far as they can be read."""
    from deskagent.repo import walk

    try:
        return walk.names(project, limit=_MOST_FILES)[0]
    except DeskagentError:
        return []


class Completing(OptionList, can_focus=False):
    """Hidden where there is nothing to choose."""

    def __init__(self) -> None:
        super().__init__(id="completing")
        self._values: list[str] = []
        self._wanted: Wanted | None = None

    def on_mount(self) -> None:
        self.display = False

    def offer(self, wanted: Wanted | None, names: Mapping[str, str]) -> None:
        """names: what there is of the kind, with what it is."""
        self._wanted = wanted
        self._values = best(wanted.typed, names, _MOST) if wanted else []
        if wanted and self._values == [wanted.typed]:
            self._values = []  # it stands there already
        self.clear_options()
        mark = wanted.kind if wanted else ""
        for value in self._values:
            says = inert(names[value], newlines=False)
            shown = inert(value, newlines=False)
            self.add_option(
                Option(Content.assemble((f"{mark}{shown}", "$foreground"), (f"  {says}", "$muted")))
            )
        self.display = bool(self._values)
        self.highlighted = 0 if self._values else None

    @property
    def active(self) -> bool:
        return bool(self._values)

    def move(self, by: int) -> None:
        if self._values:
            self.highlighted = ((self.highlighted or 0) + by) % len(self._values)

    def picked(self) -> tuple[str, str] | None:
        """What was typed of it, mark included, and what takes its place."""
        if not self._values or self._wanted is None:
            return None
        value = self._values[self.highlighted or 0]
        if self._wanted.kind == "@" and " " in value:
            value = f'"{value}"'
        return f"{self._wanted.kind}{self._wanted.typed}", f"{self._wanted.kind}{value} "

    def close(self) -> None:
        self._values = []
        self.display = False
