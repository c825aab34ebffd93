"""Calls that a model writes into its answer's text, told apart from the text as it comes.

Between markers that models have for it (`<tool_call>`, `[TOOL_CALLS]`, `<|python_tag|>`, `<function=…>`) everything is
a call. Fenced or bare JSON, and Python at an answer's beginning, is one only where it names a tool that there is:
small models write calls so, and people's files hold JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from deskagent.providers.written_forms import Written, broken_call, calls_in

Piece = str | Written
"""Text, or a call's name and arguments."""


@dataclass(frozen=True, slots=True)
class _Marker:
    """closing: what ends the calls; where it is missing they reach to the answer's end. keeps: the marker is part of
    the call. sure: a call whatever it names."""

    opening: str
    closing: str
    keeps: bool = False
    sure: bool = True


_MARKERS = (
    _Marker("<tool_call>", "</tool_call>"),
    _Marker("<function=", "</function>", keeps=True),
    _Marker("[TOOL_CALLS]", "[TOOL_CALLS]"),
    _Marker("<|python_tag|>", "<|eom_id|>"),
    _Marker("```", "\n```", sure=False),
)
_LONGEST = max(len(marker.opening) for marker in _MARKERS)
_BARE = re.compile(r"(?:\A|\n)[ \t]*(?=[{\[])")
"""Where JSON or Python without a marker may begin: with a line."""
_FENCED = re.compile(r"```[ \t]*(?:json|tool_call|tool_code|python|xml|)[ \t]*\n\s*")
_MAY = re.compile(r'\[?\s*(?:\{{1,2}\s*("\w*("\s*(:\s*("[^"]*)?)?)?)?|[\w.]*\s*)?')
"""What may become a call, as far as it has come."""
_UNDECIDED = 64
"""Letters of it at most."""
_LEFT = re.compile(r"\s*(?:</tools?>|</tool_calls?>)\s*\Z")
"""What small models put behind a call."""


class WrittenCalls:
    """Takes an answer in pieces. names: of the tools that there are."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(names)
        some = "|".join(map(re.escape, sorted(self._names))) or "(?!)"
        self._begins = re.compile(
            rf'\[?\s*\{{{{1,2}}\s*"(?:name|function|tool|tool_name)"\s*:\s*"(?:{some})"|\[\s*(?:{some})\s*\('
        )
        self._held = ""
        self._at_line = True
        self.called = False

    def feed(self, text: str) -> Iterator[Piece]:
        """What is sure by now."""
        self._held += text
        yield from self._pieces(last=False)

    def rest(self) -> Iterator[Piece]:
        """What is held back at the end."""
        yield from self._pieces(last=True)

    def _pieces(self, *, last: bool) -> Iterator[Piece]:
        while self._held:
            found = self._next()
            start, marker = found or (len(self._held) - (0 if last else _half(self._held)), None)
            if start:
                yield from self._said(self._held[:start])
                self._held = self._held[start:]
            if found is None:
                return
            taken = self._marked(marker, last=last) if marker else self._bare(last=last)
            if taken is None:
                return  # more has to come
            size, calls = taken
            if calls:
                self.called = True
                yield from calls
            else:
                yield from self._said(self._held[:size])
            self._held = self._held[size:]

    def _said(self, text: str) -> Iterator[str]:
        if text and not (self.called and (not text.strip() or _LEFT.fullmatch(text))):
            yield text
        self._at_line = text[-1:] == "\n"

    def _next(self) -> tuple[int, _Marker | None] | None:
        """Where the next thing that may be a call begins, and its marker if it has one."""
        held = self._held
        found: list[tuple[int, _Marker | None]] = [
            (at, marker) for marker in _MARKERS if (at := held.find(marker.opening)) >= 0
        ]
        for bare in _BARE.finditer(held):
            if bare.start() or self._at_line or held[0] == "\n":
                found.append((bare.end(), None))
                break
        return min(found, key=lambda one: one[0], default=None)

    def _marked(self, marker: _Marker, *, last: bool) -> tuple[int, list[Written]] | None:
        if not marker.sure:
            return self._fenced(marker, last=last)
        begin = 0 if marker.keeps else len(marker.opening)
        end = self._held.find(marker.closing, len(marker.opening))
        if end < 0 and not last:
            return None
        again = marker.opening == marker.closing
        size = len(self._held) if end < 0 else end + (0 if again else len(marker.closing))
        inside = self._held[begin : size if marker.keeps or end < 0 else end]
        return size, calls_in(inside) or broken_call(inside)

    def _fenced(self, marker: _Marker, *, last: bool) -> tuple[int, list[Written]] | None:
        head = _FENCED.match(self._held)
        if head is None:
            line, newline, _ = self._held.partition("\n")
            return None if not newline and not last and len(line) < 32 else (len(marker.opening), [])
        inside = self._held[head.end() :]
        if not self._may_begin(inside, last=last):
            return head.end(), []
        end = self._held.find(marker.closing, head.end())
        if end < 0 and not last:
            return None
        size = len(self._held) if end < 0 else end + len(marker.closing)
        return size, self._known(self._held[head.end() : size if end < 0 else end])

    def _bare(self, *, last: bool) -> tuple[int, list[Written]] | None:
        if not self._may_begin(self._held, last=last):
            return 1, []
        if self._held[0] == "{":
            try:
                twice = self._held.startswith("{{")  # as some templates show it by mistake
                size = json.JSONDecoder(strict=False).raw_decode(self._held[twice:])[1] + twice
                if twice and size == len(self._held) and not last:
                    return None
                size += twice and self._held[size : size + 1] == "}"
                return size, self._known(self._held[:size])
            except (ValueError, RecursionError):
                pass
        return (len(self._held), self._known(self._held)) if last else None

    def _may_begin(self, text: str, *, last: bool) -> bool:
        """Whether a call of a known tool begins here, or may, with what is still to come."""
        if self._begins.match(text):
            return True
        return not last and len(text) < _UNDECIDED and bool(_MAY.fullmatch(text))

    def _known(self, body: str) -> list[Written]:
        found = calls_in(body)
        if all(name in self._names for name, _ in found) and found:
            return found
        return [call for call in broken_call(body) if call[0] in self._names]


def _half(text: str) -> int:
    """How many letters of the text's end may be the beginning of a marker, or blanks before one."""
    longest = min(len(text), _LONGEST - 1)
    for size in range(longest, 0, -1):
        if any(marker.opening.startswith(text[-size:]) for marker in _MARKERS):
            return size
    return len(text) - len(text.rstrip())
