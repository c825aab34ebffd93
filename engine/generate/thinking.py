"""How long a model may think: at the cap its thinking is ended for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

CAPS: dict[str, int | None] = {"low": 0, "high": 4096, "max": None}
"""Tokens of thinking in each tier; None for no cap."""


@dataclass(frozen=True, slots=True)
class Thinking:
    """start, end: the markers' token ids. cap: tokens between them, None for any number."""

    start_ids: tuple[int, ...]
    end_ids: tuple[int, ...]
    cap: int | None

    @classmethod
    def of_tier(cls, tier: str, start_ids: tuple[int, ...], end_ids: tuple[int, ...]) -> Thinking:
        """Errors: KeyError for an unknown tier."""
        return cls(start_ids, end_ids, CAPS[tier])

    def start(self, prompt: Sequence[int]) -> ThinkingCap:
        return ThinkingCap(self, prompt)


class ThinkingCap:
    """Follows one answer. It thinks from a start marker, in the prompt or the answer, to the next end marker."""

    def __init__(self, rule: Thinking, prompt: Sequence[int]) -> None:
        self._rule = rule
        self._tail: list[int] = []
        self.thinking = _last(prompt, rule.start_ids) > _last(prompt, rule.end_ids)
        self._spent = 0
        self._forcing = 0

    def forced(self) -> int | None:
        """The token that has to come next, None where any may."""
        ends = self._rule.end_ids
        if self.thinking and self._rule.cap is not None and self._spent >= self._rule.cap:
            return ends[self._forcing]
        return None

    def feed(self, token: int) -> None:
        """The answer's next token."""
        if self.forced() is not None:
            self._forcing += 1
        rule = self._rule
        self._tail = [*self._tail, token][-max(len(rule.start_ids), len(rule.end_ids)) :]
        if self.thinking and tuple(self._tail[-len(rule.end_ids) :]) == rule.end_ids:
            self.thinking, self._spent, self._forcing = False, 0, 0
        elif not self.thinking and tuple(self._tail[-len(rule.start_ids) :]) == rule.start_ids:
            self.thinking = True
        elif self.thinking:
            self._spent += 1


def _last(tokens: Sequence[int], ids: tuple[int, ...]) -> int:
    """Where `ids` stand last in `tokens`, −1 for nowhere."""
    for at in range(len(tokens) - len(ids), -1, -1):
        if tuple(tokens[at : at + len(ids)]) == ids:
            return at
    return -1
