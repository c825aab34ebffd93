"""Numbers for the parts of an answer that is read out of one stream of text, and ids for its calls."""

from __future__ import annotations

from collections.abc import Iterable

from deskagent.providers import reading


class Parts:
    """taken: ids of the conversation's calls, none of which is given again."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self._begun, self._kind = 0, ""

    def of(self, kind: str) -> int:
        """The number of the part that goes on, where it is of this kind, or that begins."""
        if kind != self._kind:
            self._begun, self._kind = self._begun + 1, kind
        return self._begun - 1

    def call(self) -> tuple[int, str]:
        """The number and the id of a call that begins."""
        made = reading.own_id()
        while made in self._taken:
            made = reading.own_id()
        self._taken.add(made)
        return self.of(made), made
