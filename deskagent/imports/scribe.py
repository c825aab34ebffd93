"""Writes a conversation that another agent kept as events of ours: every call gets a result, every id is our own.

A scribe holds ids alone, so that the longest conversation goes through it piece by piece.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable

from deskagent.imports.pictures import seen
from deskagent.messages import Author, Call, Image, Outcome, Part, Result, Text, Thinking
from deskagent.session import talk
from deskagent.session.event import Event

_PICTURE = 750_000
"""Bytes of a picture that is brought over: larger ones are refused by servers."""
LOST = Result.of(
    "The session that this was brought over from has no result of it. It may have happened in part or in whole; look "
    "before doing it again.",
    Outcome.UNKNOWN,
)


class Scribe:
    """append: into the session. keep: stores bytes and names their blob."""

    def __init__(self, append: Callable[[Event], object], keep: Callable[[bytes], str]) -> None:
        self._append, self._keep = append, keep
        self._turns = self._summaries = 0
        self._answer = self._key = ""
        self._names: dict[str, str] = {}
        self._ids: set[str] = set()
        self._waiting: dict[str, float] = {}
        self._answered = False
        self._ended = True
        self._first = self._last = ""
        self.lost = 0
        """Results whose call isn't there, or has one already."""

    def said(self, parts: tuple[Part, ...], author: Author = Author.PERSON, time: float = 0.0) -> None:
        """Nothing where there is nothing in it."""
        if not any(not isinstance(part, Text) or part.text.strip() for part in parts):
            return
        self._answered = True
        if not self._waiting:
            self._stop(time)
        self._append(talk.Spoken(id=self._turn(), parts=parts, author=author, time=time))

    def part(
        self, part: Thinking | Text | Call, model: str = "", *, answer: str = "", time: float = 0.0
    ) -> None:
        """A part of a model's answer. answer: names the answer where the source does; else one begins after a result,
        and after what was said."""
        goes_on = answer == self._key if answer else not self._answered
        if self._ended or not goes_on:
            self._begin(answer, model, time)
        if isinstance(part, Call):
            part = self._own(part, time)
        self._append(talk.PartCame(ask=self._answer, part=part, time=time))

    def result(self, call: str, result: Result, time: float = 0.0) -> None:
        """call: the source's own id."""
        name = self._names.get(call, "")
        if self._waiting.pop(name, None) is None:
            self.lost += 1
            return
        self._answered = True
        self._append(talk.CallEnded(id=name, result=result, time=time))

    def summary(self, text: str, time: float = 0.0) -> None:
        """All so far was sent as `text` from here."""
        self._stop(time)
        if not self._first:
            self.said((Text(text),), Author.DESKAGENT, time)
            return
        self._summaries += 1
        id = f"summary-{self._summaries}"
        self._append(talk.Compacted(id=id, first=self._first, last=self._last, summary=text, time=time))
        self._first = self._last = id

    def picture(self, data: str, origin: str = "") -> Part:
        """A picture given in base64, or as a data URL. Words in its place where it can't be shown to a model."""
        raw = b""
        try:
            raw = base64.b64decode(data.partition(",")[2] if data.startswith("data:") else data)
        except (binascii.Error, ValueError):
            pass  # no picture, then: said below
        found = seen(raw) if raw and len(raw) <= _PICTURE else None
        if found is None:
            what = f"{len(raw)} bytes" if raw else "not in the session"
            return Text(f"[A picture was here that wasn't brought over: {origin or 'no name'}, {what}.]")
        return Image(self._keep(raw), found.media, found.width, found.height, origin)

    def end(self) -> None:
        """Nothing more comes."""
        self._stop(0.0)

    def _turn(self) -> str:
        self._turns += 1
        self._last = f"turn-{self._turns}"
        self._first = self._first or self._last
        return self._last

    def _begin(self, key: str, model: str, time: float) -> None:
        self._stop(time)
        self._answer, self._key = self._turn(), key
        self._answered = self._ended = False
        self._append(talk.ModelAsked(id=self._answer, model=model, time=time))

    def _stop(self, time: float) -> None:
        """The open answer gets no more: what it waits for is answered in honest words."""
        for name, begun in self._waiting.items():
            self._append(talk.CallEnded(id=name, result=LOST, time=time or begun))
        if not self._ended:
            stop = "calls" if self._answered or self._waiting else "end"
            self._append(talk.ModelAnswered(ask=self._answer, stop=stop, time=time))
        self._waiting.clear()
        self._ended = True

    def _own(self, call: Call, time: float) -> Call:
        """The call under an id that no other call of the session has."""
        name, number = call.id or "call", 1
        while name in self._ids:
            number += 1
            name = f"{call.id or 'call'}-{number}"
        self._ids.add(name)
        self._names[call.id] = name
        self._waiting[name] = time
        return Call(name, call.name or "unknown", call.arguments, call.raw)
