"""Python's tokens by one regular expression: what makes two edits one and the same code.

Comments, blank lines, spacing and joined lines don't count; indentation does. Not a checker: rubbish in,
tokens out.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from deskagent.repair.source import SourceFile
from deskagent.repair.types import Edit

_TOKEN = re.compile(
    rb"""
      (?P<space>[ \t\f]+ | \\\r?\n)
    | (?P<comment>\#[^\r\n]*)
    | (?P<newline>\r\n|\n|\r)
    | (?P<string>[A-Za-z]{0,3}(?:\"{3}(?:\\.|[^\\])*?\"{3} | '{3}(?:\\.|[^\\])*?'{3}
                | \"(?:\\.|[^"\\\r\n])*\" | '(?:\\.|[^'\\\r\n])*'))
    | (?P<name>[A-Za-z_\x80-\xff][0-9A-Za-z_\x80-\xff]*)
    | (?P<number>0[xXbBoO][0-9A-Fa-f_]+ | (?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9_]+)?[jJ]?)
    | (?P<op>\*\*=|//=|>>=|<<=|\.\.\.|->|:=|[!=<>]=|\*\*|//|>>|<<|[-+*/%&|^@]=|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_OPEN, _CLOSE = frozenset(b"([{"), frozenset(b")]}")
CHANGES_KEPT = 5000
Change = tuple[int, tuple[bytes, ...], tuple[bytes, ...]]
_PLAIN_STRING = re.compile(rb'"([^"\'\\]*)"')


def lex(code: bytes, at: int = 0, depth: int | None = None) -> Iterator[tuple[int, bytes]]:
    """(offset, token) from `at`, which must begin a logical line or, where `depth` tells how many brackets are
    open there, a token within one. A logical line's first token is its newline and indentation, at the offset
    where the line begins."""
    fresh = at if depth is None else -1  # where the present line began, -1 once its first token is out
    depth = depth or 0
    indent = b""
    for match in _TOKEN.finditer(code, at):
        kind, token, start = match.lastgroup, match.group(), match.start()
        if kind == "space":
            if fresh >= 0 and start == fresh:
                indent = token
            continue
        if kind == "comment":
            continue
        if kind == "newline":
            if depth == 0:
                fresh, indent = match.end(), b""
            continue
        if fresh >= 0:
            yield fresh, b"\n" + indent.replace(b"\f", b"")
            fresh = -1
        if kind == "op":
            if token[0] in _OPEN:
                depth += 1
            elif token[0] in _CLOSE:
                depth = max(0, depth - 1)
        elif kind == "string":
            token = _PLAIN_STRING.sub(rb"'\1'", token) if _PLAIN_STRING.fullmatch(token) else token
        yield start, token


@dataclass(frozen=True)
class TokenStream:
    """A file's tokens, and what an edit makes of them; `lexer` is the language's own."""

    source: SourceFile
    lexer: Callable[[bytes, int], Iterator[tuple[int, bytes]]] = lex

    @cached_property
    def _tokens(self) -> tuple[list[int], list[bytes]]:
        offsets: list[int] = []
        texts: list[bytes] = []
        for offset, token in self.lexer(self.source.utf8, 0):
            offsets.append(offset)
            texts.append(token)
        return offsets, texts

    @cached_property
    def _line_starts(self) -> dict[int, int]:
        """Offset at which a logical line begins → index of its first token."""
        offsets, texts = self._tokens
        return {
            offset: i for i, (offset, text) in enumerate(zip(offsets, texts, strict=True)) if text[0] == 10
        }

    @cached_property
    def _sorted_starts(self) -> list[int]:
        return sorted(self._line_starts)

    @cached_property
    def pairs(self) -> Counter[tuple[bytes, bytes]]:
        """Neighbouring tokens, counted."""
        texts = self._tokens[1]
        return Counter(itertools.pairwise(texts))

    def change(self, edits: Sequence[Edit]) -> Change:
        """(index of the first differing token, tokens taken out, tokens put in): the same for every way to the
        same resulting tokens; both empty if nothing but layout changes."""
        key = tuple(edits)
        if key not in self._changes:
            if len(self._changes) > CHANGES_KEPT:
                self._changes.clear()
            self._changes[key] = self._change(key)
        return self._changes[key]

    @cached_property
    def _changes(self) -> dict[tuple[Edit, ...], Change]:
        return {}

    def _change(self, edits: tuple[Edit, ...]) -> Change:
        texts = self._tokens[1]
        if not edits:
            return 0, (), ()
        if self.lexer is lex:
            return self._change_near(edits)
        new_code = self.source.edited(edits)
        first = min(edit.start for edit in edits)
        last = max(edit.end for edit in edits)
        shift = len(new_code) - len(self.source.utf8)
        # One line further back: joining to the line before must be seen.
        at = bisect_right(self._sorted_starts, first) - 2
        begin = self._sorted_starts[at] if at >= 0 else 0
        low = self._line_starts.get(begin, 0)
        fresh: list[bytes] = []
        high = len(texts)
        for offset, token in self.lexer(new_code, begin):
            old = offset - shift
            if token[0] == 10 and old > last and old in self._line_starts:
                high = self._line_starts[old]
                if texts[high] == token:
                    break
                high = len(texts)
            fresh.append(token)
        return _trim(texts, low, high, fresh)

    @cached_property
    def _depths(self) -> list[int]:
        """For each token, how many brackets are open before it."""
        found, depth = [], 0
        for text in self._tokens[1]:
            if text[0] == 10:
                depth = 0
            found.append(depth)
            depth = _deeper(depth, text)
        return found

    @cached_property
    def _within_lines(self) -> dict[int, int]:
        """Offset → index of the tokens that don't begin a logical line."""
        return {
            offset: i for i, (offset, text) in enumerate(zip(*self._tokens, strict=True)) if text[0] != 10
        }

    def _change_near(self, edits: tuple[Edit, ...]) -> Change:
        """As `_change`, from the token before an edit to where tokens and brackets are as before: a statement may
        be a table of a thousand lines, and an import that comes with an edit stands far from it."""
        offsets, texts = self._tokens
        ordered = sorted(edits, key=lambda edit: (edit.start, edit.end))
        code = self.source.edited(ordered)
        shifts = list(itertools.accumulate(map(self.source.growth, ordered)))
        # A token may grow together with those before it.
        lows = [max(0, bisect_right(offsets, edit.start) - 3) for edit in ordered]
        fresh: list[bytes] = []
        number, at, before, final = 0, lows[0], 0, len(ordered) - 1
        while True:
            line = not offsets or at == 0 or texts[at][0] == 10
            depth = 0 if line else self._depths[at]
            high = len(texts)
            for offset, token in lex(code, offsets[at] + before if at else 0, None if line else depth):
                begins = token[0] == 10
                depth = 0 if begins else depth
                while number < final and offset - shifts[number] >= ordered[number + 1].start:
                    number += 1
                old = offset - shifts[number]
                if old >= ordered[number].end:
                    known = (self._line_starts if begins else self._within_lines).get(old)
                    if known is not None and texts[known] == token and self._depths[known] == depth:
                        if number == final or known < lows[number + 1]:
                            high = known
                            break
                        number += 1
                fresh.append(token)
                depth = _deeper(depth, token)
            if number == final or high == len(texts):
                return _trim(texts, lows[0], max(high, lows[0]), fresh)
            at, before = lows[number + 1], shifts[number]
            fresh += texts[high:at]
            number += 1

    def key(self, edits: Sequence[Edit]) -> str:
        """A name for the resulting code, equal for equal tokens; "" if the edits change layout alone."""
        index, gone, new = self.change(edits)
        if not gone and not new:
            return ""
        head = f"{self.source.path}\0{index}\0{len(gone)}\0".encode()
        return hashlib.blake2b(head + b"\0".join(new), digest_size=12).hexdigest()

    def window(self, index: int, before: int, after: int) -> tuple[bytes, ...]:
        """Tokens around `index`."""
        return tuple(self._tokens[1][max(0, index - before) : index + after])

    @property
    def texts(self) -> Sequence[bytes]:
        return self._tokens[1]


def _deeper(depth: int, token: bytes) -> int:
    """Brackets open after `token`."""
    if len(token) != 1:
        return depth
    return depth + 1 if token[0] in _OPEN else max(0, depth - 1) if token[0] in _CLOSE else depth


def _trim(old: Sequence[bytes], low: int, high: int, fresh: Sequence[bytes]) -> Change:
    """Strips what old[low:] and fresh + old[high:] share at both ends, over the whole file."""
    grown = len(fresh) - (high - low)

    def now(i: int) -> bytes:
        return fresh[i - low] if low <= i < low + len(fresh) else old[i - grown] if i >= low else old[i]

    size, new_size = len(old), len(old) + grown
    start = low
    while start < size and start < new_size and old[start] == now(start):
        start += 1
    end, new_end = high, high + grown  # the tail beyond `high` is shared by construction
    while end > start and new_end > start and old[end - 1] == now(new_end - 1):
        end -= 1
        new_end -= 1
    if start > end or start > new_end:  # the shared head reached into the shared tail: count from the head
        overlap = start - min(end, new_end)
        end, new_end = end + overlap, new_end + overlap
    own = low + len(fresh)
    new = (*fresh[start - low : new_end - low], *old[max(start, own) - grown : max(0, new_end - grown)])
    return start, tuple(old[start:end]), new
