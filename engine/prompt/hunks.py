"""What an answer of edits may go on with, byte by byte: hunks that fit one excerpt (`edits` has their form).

A number is that of a line there is. What stands after "-" stands in that line, and once where "+" follows, or is all of
it. What stands after "+" is free: UTF-8 without line ends in it.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from dataclasses import dataclass, replace

from engine.errors import RequestError
from engine.prompt.edits import apply, parse

MOST_HUNKS, MOST_LINES = 2, 8
"""Of an answer; of one sign in a hunk."""
_LINE_END, _MINUS, _PLUS, _ZERO = b"\n-+0"
_DIGITS = range(_ZERO, _ZERO + 10)
_NO_TEXT = frozenset(b"\0\r")


@dataclass(frozen=True, eq=False)
class Hunks:
    """The rules for one excerpt. text: its UTF-8. starts: where each line begins, and one more than the end."""

    excerpt: str
    text: bytes
    starts: tuple[int, ...]

    @classmethod
    def of(cls, excerpt: str) -> Hunks:
        """Errors: RequestError for half a surrogate pair."""
        try:
            text = excerpt.encode()
        except UnicodeEncodeError as error:
            raise RequestError(f"the excerpt is no text: {error}") from error
        starts = [0]
        for line in text.split(b"\n"):
            starts.append(starts[-1] + len(line) + 1)
        return cls(excerpt, text, tuple(starts))

    def start(self) -> Number:
        """Before an answer's first byte."""
        return Number(self, MOST_HUNKS)

    @property
    def lines(self) -> int:
        return len(self.starts) - 1

    def ends_line(self, at: int) -> bool:
        """Whether a line ends before this byte."""
        return at == len(self.text) or self.text[at] == _LINE_END

    def made(self, answer: str) -> str | None:
        """The excerpt with the answer's edits; None for an answer that doesn't fit or changes nothing."""
        try:
            after = apply(parse(answer), self.excerpt)
        except RequestError:
            return None
        return None if after == self.excerpt else after


class _Common:
    """See `engine.generate.words.Rule`, which states are."""

    complete = False
    free = False


@dataclass(frozen=True)
class Number(_Common):
    """In a hunk's number. left: hunks that the answer may still have. least: the smallest line."""

    rules: Hunks
    left: int
    least: int = 0
    digits: str = ""

    def follow(self) -> Iterable[int]:
        return (*_DIGITS, _LINE_END)

    def after(self, byte: int) -> State | None:
        if byte == _LINE_END:
            line = int(self.digits or -1)
            return Head(self.rules, self.left - 1, line) if self.least <= line <= self.rules.lines else None
        digits = self.digits + chr(byte)
        if byte not in _DIGITS or not self._begins(digits):
            return None
        return replace(self, digits=digits)

    def _begins(self, digits: str) -> bool:
        """Whether a number that may stand here begins so."""
        if digits[0] == "0":
            return digits == "0" and self.least == 0
        low = high = int(digits)
        while low <= self.rules.lines:
            if high >= self.least:
                return True
            low, high = 10 * low, 10 * high + 9
        return False


@dataclass(frozen=True)
class Head(_Common):
    """After a hunk's number."""

    rules: Hunks
    left: int
    line: int

    def follow(self) -> Iterable[int]:
        return (_MINUS, _PLUS)

    def after(self, byte: int) -> State | None:
        if byte == _PLUS:
            return New(self.rules, self.left, self.line, 1)
        if byte != _MINUS or not self.line:
            return None
        first, end = self.rules.starts[self.line - 1 : self.line + 1]
        # a character's later bytes begin nothing
        text = self.rules.text
        starts = tuple(at for at in range(first, end) if at == len(text) or text[at] & 0xC0 != 0x80)
        return Old(self.rules, self.left, self.line, starts, 0, 1)


@dataclass(frozen=True)
class Old(_Common):
    """Behind "-". starts: all places in the line from which the text so far, `length` bytes, stands."""

    rules: Hunks
    left: int
    line: int
    starts: tuple[int, ...]
    length: int
    lines: int

    def follow(self) -> Iterable[int]:
        text = self.rules.text
        ways = {text[at + self.length] for at in self.starts if at + self.length < len(text)}
        return ways | {_LINE_END}

    def after(self, byte: int) -> State | None:
        if byte == _LINE_END:
            ended = OldEnd(self.rules, self.left, self.line, self.starts, self.length, self.lines)
            return ended if any(ended.after(sign) for sign in ended.follow()) or ended.complete else None
        text, length = self.rules.text, self.length
        starts = tuple(at for at in self.starts if text[at + length : at + length + 1] == bytes((byte,)))
        return replace(self, starts=starts, length=length + 1) if starts else None


@dataclass(frozen=True)
class OldEnd(_Common):
    """After a line with "-"."""

    rules: Hunks
    left: int
    line: int
    starts: tuple[int, ...]
    length: int
    lines: int

    @property
    def complete(self) -> bool:  # type: ignore[override]
        """Whole lines may go and nothing come for them."""
        first = self.rules.starts[self.line - 1]
        return first in self.starts and self.rules.ends_line(first + self.length)

    def follow(self) -> Iterable[int]:
        return (_MINUS, _PLUS, *_DIGITS)

    def after(self, byte: int) -> State | None:
        text, length = self.rules.text, self.length
        if byte == _PLUS:
            if len(self.starts) != 1 or not self._whole_letters():
                return None
            return New(self.rules, self.left, self.line, 1)
        if byte == _MINUS:
            starts = tuple(at for at in self.starts if text[at + length : at + length + 1] == b"\n")
            if not starts or self.lines == MOST_LINES:
                return None
            return Old(self.rules, self.left, self.line, starts, length + 1, self.lines + 1)
        if not self.complete or not self.left:
            return None
        return Number(self.rules, self.left, self.line).after(byte)

    def _whole_letters(self) -> bool:
        end = self.starts[0] + self.length
        return end == len(self.rules.text) or self.rules.text[end] & 0xC0 != 0x80


@dataclass(frozen=True)
class New(_Common):
    """Behind "+". begun: the first bytes of a character."""

    rules: Hunks
    left: int
    line: int
    lines: int
    begun: bytes = b""

    @property
    def free(self) -> bool:  # type: ignore[override]
        return not self.begun

    def follow(self) -> Iterable[int]:
        return range(256)

    def after(self, byte: int) -> State | None:
        if byte == _LINE_END:
            return None if self.begun else NewEnd(self.rules, self.left, self.line, self.lines)
        if byte in _NO_TEXT:
            return None
        begun = self.begun + bytes((byte,))
        try:
            whole = codecs.utf_8_decode(begun, "strict", False)[1]
        except UnicodeDecodeError:
            return None
        return replace(self, begun=begun[whole:])


@dataclass(frozen=True)
class NewEnd(_Common):
    """After a line with "+"."""

    rules: Hunks
    left: int
    line: int
    lines: int
    complete = True

    def follow(self) -> Iterable[int]:
        return (_PLUS, *_DIGITS)

    def after(self, byte: int) -> State | None:
        if byte == _PLUS:
            return New(self.rules, self.left, self.line, self.lines + 1) if self.lines < MOST_LINES else None
        return Number(self.rules, self.left, self.line).after(byte) if self.left else None


State = Number | Head | Old | OldEnd | New | NewEnd
