"""Fill in the middle: a text whose middle comes last (Bavarian et al. 2022). All of it is learnt: what stands before
and behind is text as any other."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from engine.prompt.render import Marker
from engine.train.corpus.files import Document
from engine.train.example import Example, Piece
from engine.train.library import Library

_LARGEST = 600
"""Letters of a middle."""
_MOST_LINES = 5


def fim(library: Library, document: Document, random: Random) -> Example | None:
    text = document.text
    start, end = random.choice(_LEVELS)(text, random)
    if not 0 < end - start <= _LARGEST or not text[start:end].strip():
        return None
    room = int(library.letters * random.uniform(0.2, 0.9)) - (end - start)
    before = random.uniform(0.3, 0.8)
    first = _from_line(text, max(0, start - int(room * before)), start)
    last = _to_line(text, min(len(text), end + int(room * (1 - before))), end)
    return [
        *_section("prefix", text[first:start], ends=False),
        *_section("suffix", text[end:last], ends=False),
        *_section("middle", text[start:end], ends=True),
        Piece(Marker.END, True),
    ]


def _section(name: str, text: str, *, ends: bool) -> Example:
    """ends: whether where it ends is learnt; of what is cut anywhere it can't be known."""
    head, tail = (Marker.OPEN, name, Marker.SEP), (Marker.CLOSE, name, Marker.SEP)
    return [*(Piece(part, False) for part in head), Piece(text, True), *(Piece(part, ends) for part in tail)]


def lines(text: str, random: Random) -> tuple[int, int]:
    """A few whole lines, or the rest of one after its indentation."""
    start = _from_line(text, at := random.randrange(len(text)), at)
    end = start
    for _ in range(random.randint(1, _MOST_LINES)):
        end = text.find("\n", end) + 1 or len(text)
    return start, end


def span(text: str, random: Random) -> tuple[int, int]:
    """Within a line, from word to word: an argument, a condition, a call."""
    at = random.randrange(len(text))
    start, end = _from_line(text, at, at), text.find("\n", at)
    end = len(text) if end < 0 else end
    cuts = [
        n
        for n in range(start, end + 1)
        if n in (start, end) or not (_in_word(text[n - 1]) and _in_word(text[n]))
    ]
    cuts = [n for n in cuts if text[start:n].strip()] or [end]
    one, two = random.choice(cuts), random.choice(cuts)
    return min(one, two), max(one, two)


def block(text: str, random: Random) -> tuple[int, int]:
    """A line and all that is indented more below it, such as a body or a branch."""
    at = random.randrange(len(text))
    start = _from_line(text, at, at)
    end = text.find("\n", start) + 1 or len(text)
    depth = _depth(text[start:end])
    while end < len(text) and end - start <= _LARGEST:
        after = text.find("\n", end) + 1 or len(text)
        line = text[end:after]
        if line.strip() and _depth(line) <= depth:
            break
        end = after
    return start, end


_LEVELS: tuple[Callable[[str, Random], tuple[int, int]], ...] = (lines, span, span, block)


def _in_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _from_line(text: str, at: int, most: int) -> int:
    """Where the line of `at` begins; `most` bounds it."""
    return min(text.rfind("\n", 0, at) + 1, most)


def _to_line(text: str, at: int, least: int) -> int:
    """Where the last whole line before `at` ends."""
    return max(text.rfind("\n", 0, at) + 1, least)
