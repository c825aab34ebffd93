"""Thinking that a server leaves in an answer's text, between markers, at its beginning."""

from __future__ import annotations

from collections.abc import Iterator


class ThinkTags:
    """Takes a text in pieces and says of each whether it is thinking. What could be half a marker is held back.
    Thinking that is never closed reaches to the end."""

    def __init__(self, opening: str, closing: str) -> None:
        self._opening, self._closing = opening, closing
        self._held = ""
        self._state = "before"

    def feed(self, piece: str) -> Iterator[tuple[bool, str]]:
        self._held += piece
        if self._state == "before":
            start = self._held.lstrip()
            if start.startswith(self._opening):
                self._state, self._held = "within", start[len(self._opening) :]
                yield True, ""  # thinking may be empty, and is there all the same
            elif not self._opening.startswith(start):
                self._state = "after"
        if self._state == "within":
            thinking, closed, rest = self._held.partition(self._closing)
            if closed:
                self._state, self._held = "after", rest
            else:
                keep = _overlap(thinking, self._closing)
                thinking, self._held = thinking[: len(thinking) - keep], thinking[len(thinking) - keep :]
            if thinking:
                yield True, thinking
        if self._state == "after" and self._held:
            yield False, self._held
            self._held = ""

    def rest(self) -> Iterator[tuple[bool, str]]:
        """What is held back at the end."""
        if self._held:
            yield self._state == "within", self._held
        self._held = ""


def _overlap(text: str, marker: str) -> int:
    """How many characters of `text`'s end could be the beginning of `marker`."""
    longest = min(len(text), len(marker) - 1)
    return next((size for size in range(longest, 0, -1) if text.endswith(marker[:size])), 0)
