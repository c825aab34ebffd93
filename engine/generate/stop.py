"""Where an answer's text ends: stop strings in a stream, however it is cut into pieces."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from engine.errors import RequestError

MOST = 1 << 20
LONGEST = 1024


class Stops:
    """A set of stop strings, up to a million. Lookups go by length (does one end here?) and by order (does one begin
    with this?), so a character costs the number of lengths, not of strings."""

    def __init__(self, strings: Iterable[str]) -> None:
        """Raises RequestError for empty, too long or too many strings."""
        self.ordered = sorted(set(strings))
        if len(self.ordered) > MOST:
            raise RequestError(f"{len(self.ordered)} stop strings: at most {MOST}")
        lengths = {len(string) for string in self.ordered}
        if 0 in lengths:
            raise RequestError("an empty stop string would end every answer at once: leave it out")
        if max(lengths, default=0) > LONGEST:
            raise RequestError(f"a stop string of {max(lengths)} characters: at most {LONGEST}")
        self.lengths = sorted(lengths, reverse=True)
        self.strings = frozenset(self.ordered)

    def ending(self, text: str, end: int) -> str | None:
        """The longest stop string that ends at `end`."""
        for length in self.lengths:
            if length <= end and text[end - length : end] in self.strings:
                return text[end - length : end]
        return None

    def begun(self, text: str) -> int:
        """Characters at the end of `text` that may be the beginning of a stop string."""
        if not self.lengths:
            return 0
        for length in range(min(len(text), self.lengths[0] - 1), 0, -1):
            part = text[-length:]
            at = bisect_left(self.ordered, part)
            if at < len(self.ordered) and self.ordered[at].startswith(part):
                return length
        return 0


class StopStream:
    """Text goes in, in pieces; what certainly belongs to the answer comes out. `found` is the stop string that ended
    it: the first to be complete, of those that end there the longest."""

    def __init__(self, stops: Stops) -> None:
        self.stops = stops
        self.found: str | None = None
        self._held = ""

    def feed(self, piece: str) -> str:
        """What can be given out now; nothing more after `found` is set."""
        if self.found is not None:
            return ""
        text = self._held + piece
        for end in range(len(self._held) + 1, len(text) + 1):
            self.found = self.stops.ending(text, end)
            if self.found is not None:
                self._held = ""
                return text[: end - len(self.found)]
        keep = len(text) - self.stops.begun(text)
        self._held = text[keep:]
        return text[:keep]

    def rest(self) -> str:
        """What was held back, at an end without a stop string."""
        held, self._held = self._held, ""
        return held
