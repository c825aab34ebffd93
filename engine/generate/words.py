"""Which tokens of a vocabulary may follow, by rules that go byte by byte."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import numpy as np

from engine.generate.cuts import Places
from engine.generate.text import Vocabulary


class Rule(Protocol):
    """What came so far, by its rules. Equal ones go on alike."""

    @property
    def complete(self) -> bool:
        """Whether the answer may end here."""
        ...

    @property
    def free(self) -> bool:
        """Whether any UTF-8 text without line ends or NUL may follow, and leads back to an equal rule."""
        ...

    def follow(self) -> Iterable[int]:
        """Bytes of which some may follow and no other."""
        ...

    def after(self, byte: int) -> Rule | None:
        """None where this byte can't follow."""
        ...


class _Way:
    """A node in the tree of all words: the tokens that end here, and the bytes that lead on."""

    __slots__ = ("tokens", "ways")

    def __init__(self) -> None:
        self.tokens: list[int] = []
        self.ways: dict[int, _Way] = {}


class Words:
    """A vocabulary's words. Building it reads all of them: keep it."""

    def __init__(self, vocabulary: Vocabulary, size: int) -> None:
        """size: tokens are below it."""
        self._words = [vocabulary.token_bytes(token) for token in range(size)]
        self._root = _Way()
        plain: list[int] = []
        self._others: list[int] = []
        for token, word in enumerate(self._words):
            if not word:
                continue
            way = self._root
            for byte in word:
                way = way.ways.setdefault(byte, _Way())
            way.tokens.append(token)
            (plain if _is_plain(word) else self._others).append(token)
        self._plain = np.array(plain, np.int64)

    def text(self, tokens: Iterable[int]) -> bytes:
        return b"".join(self._words[token] for token in tokens)

    def after(self, rule: Rule, token: int) -> Rule | None:
        """None where the token can't follow."""
        now: Rule | None = rule
        for byte in self._words[token]:
            now = now.after(byte) if now is not None else None
        return now

    def allowed(self, rule: Rule) -> Places:
        """The tokens that may follow, ascending."""
        if rule.free:
            few = [token for token in self._others if self.after(rule, token) is not None]
            return np.sort(np.concatenate([self._plain, np.array(few, np.int64)]))
        found: list[int] = []
        todo = [(self._root, rule)]
        while todo:
            way, now = todo.pop()
            ways = way.ways
            for byte in list(ways) if now.free else now.follow():
                further = ways.get(byte)
                then = now.after(byte) if further is not None else None
                if further is not None and then is not None:
                    found += further.tokens
                    todo.append((further, then))
        return np.array(sorted(found), np.int64)


def _is_plain(word: bytes) -> bool:
    if any(byte in b"\n\r\0" for byte in word):
        return False
    try:
        word.decode()
    except UnicodeDecodeError:
        return False
    return True
