"""Parts of a Python file to put a bug into: a function, a class, or some statements of a module.

Found by lines and their indentation, since parsing a whole file for one function would take most of the time.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from engine.train.corpus.files import Document

HEAD = re.compile(r"^([ \t]*)(?:async[ ]+def|def|class)[ ]+(\w+)", re.MULTILINE)
_CLOSERS = (")", "]", "}")
_LONGEST = 160
"""Lines of a part."""
_CLASS_LONGEST = 70
_SHORT, _SHORT_LEFT = 5, 0.75
"""Lines up to which most parts are left: there is little to choose from, and only the commonest bugs have a place."""
_DECORATED = 12
"""Lines of a decorator."""
_MODULE_LINES = (12, 45)
_MODULE_SHARE = 0.05
TEST = re.compile(r"(^|[/_])(tests?|testing|conftest)([/_.]|$)|\.pyi$")
"""Nobody asks for mends of tests; of types there is nothing to mend."""
_PATTERN = re.compile(r"^\w+ = re\.compile\(", re.MULTILINE)
_PATTERN_SHARE = 0.12
"""Of parts in files that compile patterns: they mostly stand outside functions."""


@dataclass(frozen=True, slots=True)
class Part:
    """Lines [first, last) of a document, from 0. alone: whether it is a function of a language other than Python."""

    lines: list[str]
    first: int
    last: int
    alone: bool = False

    @property
    def text(self) -> str:
        return "\n".join(self.lines[self.first : self.last])


def choose(document: Document, rng: random.Random) -> Part | None:
    """A part at random; whether it parses is not known yet. None where the file has none, or is a test."""
    text = document.text
    if "\r" in text or "\f" in text or TEST.search(document.path):
        return None
    lines = text.split("\n")
    heads = list(HEAD.finditer(text))
    patterns = list(_PATTERN.finditer(text)) if rng.random() < _PATTERN_SHARE else []
    if patterns:
        return _of_module(lines, rng, text.count("\n", 0, rng.choice(patterns).start()))
    if not heads or rng.random() < _MODULE_SHARE:
        return _of_module(lines, rng)
    head = rng.choice(heads)
    first = text.count("\n", 0, head.start())
    level = len(head[1])
    last = end(lines, first, level)
    longest = _CLASS_LONGEST if lines[first].lstrip().startswith("class") else _LONGEST
    if last - first > longest or (last - first <= _SHORT and rng.random() < _SHORT_LEFT):
        return None
    return Part(lines, decorated(lines, first, level), last)


def functions(lines: Sequence[str], row: int) -> list[tuple[int, int]]:
    """Rows [first, last) of the functions around a row, decorators included, the innermost first."""
    found: list[tuple[int, int]] = []
    below = sys.maxsize
    for at in range(row, -1, -1):
        head = HEAD.match(lines[at])
        if head is None or len(head[1]) >= below:
            continue
        # whether or not it holds the row: what begins above it and isn't further out ends before it
        below = len(head[1])
        last = end(lines, at, below)
        if last > row and not lines[at].lstrip().startswith("class"):
            found.append((decorated(lines, at, below), last))
        if not below:
            break
    return found


def decorated(lines: Sequence[str], first: int, level: int) -> int:
    """Where a function begins with what decorates it."""
    at = first
    while at and first - at < _DECORATED and (bare := lines[at - 1].lstrip()):
        at -= 1
        indented = len(lines[at]) - len(bare)
        if indented < level or (indented == level and bare[0] not in "@)]}"):
            break
        if indented == level and bare[0] == "@":
            first = at
    return first


def end(lines: Sequence[str], first: int, level: int) -> int:
    """Behind the last line of the block that begins at `first`, blank lines and comments below it left out."""
    last = first + 1
    for number in range(first + 1, len(lines)):
        line = lines[number]
        bare = line.lstrip()
        if not bare or bare[0] == "#":
            continue
        if len(line) - len(bare) <= level and not bare.startswith(_CLOSERS):
            break
        last = number + 1
    return last


def _of_module(lines: list[str], rng: random.Random, near: int | None = None) -> Part | None:
    """Some whole statements of the module, at random or from one at row `near` on or shortly before it."""
    starts = [
        number
        for number, line in enumerate(lines)
        if line
        and not line[0].isspace()
        and not line.startswith((*_CLOSERS, "#", "else", "elif", "except", "finally"))
    ]
    if len(starts) < 2:
        return None
    at = max(starts.index(near) - rng.randint(0, 3), 0) if near in starts else rng.randrange(len(starts))
    most = starts[at] + rng.randint(*_MODULE_LINES)
    last = max((start for start in [*starts[at + 1 :], len(lines)] if start <= most), default=0)
    while last > starts[at] and not lines[last - 1].strip():
        last -= 1
    return Part(lines, starts[at], last) if last > starts[at] else None
