"""Prompt-lookup speculation: what followed the last tokens before is drafted, and verified in one pass.

A draft is accepted when the token that the request draws anyway, with its own number for that place, is the drafted
one. That is rejection sampling with a draft that is certain: accepted with the model's probability of it, else
drawn from the rest. So the answer isn't only distributed as without drafts, it is the same answer.
"""

from __future__ import annotations

NGRAM = 3
MOST = 16
FIRST = 4


class Lookup:
    """Drafts for one sequence, out of its own tokens. `tokens` is the sequence's list and grows with it."""

    def __init__(self, tokens: list[int]) -> None:
        self._tokens = tokens
        self._places: dict[tuple[int, ...], int] = {}
        self._indexed = 0
        self._size = FIRST

    def draft(self, most: int) -> list[int]:
        """Up to `most` tokens that followed the last time that the present last ones stood there."""
        self._index()
        tokens = self._tokens
        at = self._places.get(tuple(tokens[-NGRAM:]))
        if at is None:
            return []
        return tokens[at : at + min(most, self._size)]

    def judge(self, drafted: int, accepted: int) -> None:
        """Drafts grow while they hold and shrink to what held."""
        self._size = min(2 * self._size, MOST) if accepted == drafted else max(accepted, 1)

    def _index(self) -> None:
        """Notes where each run of tokens was followed by more; the last run, which nothing follows, isn't in yet."""
        for end in range(max(self._indexed, NGRAM), len(self._tokens)):
            self._places[tuple(self._tokens[end - NGRAM : end])] = end
        self._indexed = len(self._tokens)
