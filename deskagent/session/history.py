"""The conversation that a session's events make, in a form that any model can be given.

Every call has its result, whatever happened: what a crash, a cancel or a lost event left open is answered in honest
words when the next request is made, and nothing is taken as done that nobody saw end. Turns that are sent as a summary
are let go where the events can be read again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, ClassVar, Self

import msgspec

from deskagent.messages import Answer, Author, Call, Outcome, Result, Said, Text, Thinking, Turn, Used
from deskagent.session import talk
from deskagent.session.event import Event
from deskagent.session.kept import Readable
from deskagent.session.record import Record

CUT = "cut"
LOST = {
    True: Result.of(
        "Interrupted: this had begun, and its end was not seen. It may have happened in part or in whole; look before "
        "doing it again.",
        Outcome.UNKNOWN,
    ),
    False: Result.of("Not done: the work was interrupted before this began.", Outcome.CANCELLED),
}
"""What is told of a call without a result, by whether it had begun."""
_LOST_AGENT = (
    "Interrupted: the subagent {id} was at work. What it did so far holds and is kept; `agent` with `resume` {id} lets "
    "it go on."
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A turn of the conversation under its id."""

    id: str
    turn: Turn


@dataclass
class _Open:
    """An answer that may get more parts, or whose calls may get results. agents: subagents, by the calls that have them
    work. said: what was spoken meanwhile."""

    id: str
    model: str
    parts: list[Thinking | Text | Call] = field(default_factory=list)
    stop: str = CUT
    begun: set[str] = field(default_factory=set)
    agents: dict[str, str] = field(default_factory=dict)
    results: dict[str, Result] = field(default_factory=dict)
    said: list[Entry] = field(default_factory=list)

    @property
    def waiting(self) -> list[Call]:
        """Calls without a result."""
        return [part for part in self.parts if isinstance(part, Call) and part.id not in self.results]

    def closed(self) -> Answer:
        parts = tuple(
            Used(part, self.result(part)) if isinstance(part, Call) else part for part in self.parts
        )
        return Answer(parts, self.model, self.stop)

    def result(self, call: Call) -> Result:
        if call.id in self.agents and call.id not in self.results:
            return Result.of(_LOST_AGENT.format(id=self.agents[call.id]), Outcome.UNKNOWN)
        return self.results.get(call.id) or LOST[call.id in self.begun]


class _Kept(msgspec.Struct, frozen=True):
    """A History between two processes."""

    taken: int
    chosen: dict[str, str]
    todos: tuple[talk.Todo, ...]
    calls: list[str]
    entries: list[Entry]
    summaries: int
    folded: set[str]
    open: _Open | None


class History:
    """Takes events in order and holds what they come to.

    chosen: what was chosen last, by what it is. todos: as they were set last. calls: ids of all calls there ever were.
    again: gives all events that it was given, and perhaps later ones, from the first on; without it all turns are kept.
    """

    NAME: ClassVar[str] = "history"
    KEPT: ClassVar[Any] = _Kept

    def __init__(
        self, events: Iterable[Event] = (), again: Callable[[], Iterable[Event]] | None = None
    ) -> None:
        self.again = again
        self.chosen: dict[str, str] = {}
        self.todos: tuple[talk.Todo, ...] = ()
        self.calls: set[str] = set()
        self._entries: list[Entry] = []
        self._open: _Open | None = None
        self._summaries: list[talk.Compacted] = []  # those that aren't among the entries
        self._compacted = 0
        self._folded: set[str] = set()  # ids of summaries among the entries
        self._taken = 0
        for event in events:
            self.take(event)

    @classmethod
    def begun(cls, journal: Readable, kept: _Kept | None) -> Self:
        """As it was when that was kept, else with nothing in it yet."""
        made = cls(again=lambda: (record.event for record in journal.read()))
        if kept is None:
            return made
        made.chosen, made.todos, made.calls = kept.chosen, kept.todos, set(kept.calls)
        made._taken, made._entries, made._open = kept.taken, kept.entries, kept.open
        made._compacted, made._folded = kept.summaries, kept.folded
        return made

    def dump(self) -> _Kept:
        """To be kept."""
        return _Kept(
            self._taken, self.chosen, self.todos, sorted(self.calls), self._entries, self._compacted, self._folded,
            self._open,
        )  # fmt: skip

    def see(self, record: Record) -> None:
        self.take(record.event)

    def take(self, event: Event) -> None:
        self._taken += 1
        match event:
            case talk.Spoken():
                entry = Entry(event.id, Said(event.parts, event.author))
                # what is said while tools are at work comes after their results
                (self._open.said if self._open else self._entries).append(entry)
            case talk.ModelAsked(why=""):
                self._close()
                self._open = _Open(event.id, event.model)
            case talk.PartCame() if self._open and event.ask == self._open.id:
                self._open.parts.append(event.part)
                if isinstance(event.part, Call):
                    self.calls.add(event.part.id)
            case talk.ModelAnswered() if self._open and event.ask == self._open.id:
                self._open.stop = event.stop
            case talk.CallBegun() if self._open:
                self._open.begun.add(event.id)
            case talk.AgentBegun() if self._open:
                self._open.agents[event.call] = event.id
            case talk.CallEnded():
                self._ended(event)
            case talk.Compacted():
                self._close()
                self._summaries.append(event)
                self._compacted += 1
                if self.again is not None:
                    self._fold()
            case talk.Rewound():
                self._rewind(event.to)
            case talk.TodosSet():
                self.todos = event.todos
            case talk.Chosen():
                self.chosen[event.what] = event.value

    @property
    def summaries(self) -> int:
        """How often room was made."""
        return self._compacted

    @property
    def waiting(self) -> list[Call]:
        """Calls of the last answer that have no result yet."""
        return self._open.waiting if self._open else []

    def lost(self) -> list[talk.CallEnded]:
        """What has to be put on record of calls that nobody works on any more."""
        if self._open is None:
            return []
        return [talk.CallEnded(id=call.id, result=self._open.result(call)) for call in self._open.waiting]

    @property
    def all(self) -> list[Entry]:
        """Every turn that wasn't rewound, as it was, an open answer with what is known of it."""
        if self._folded:
            return self._whole().all
        return self._held

    @property
    def _held(self) -> list[Entry]:
        found = list(self._entries)
        if self._open:
            if self._open.parts:
                found.append(Entry(self._open.id, self._open.closed()))
            found += self._open.said
        return found

    @property
    def sent(self) -> list[Entry]:
        """What a model is given: as `all`, with what was compacted as its summary."""
        found = self._held
        for event in self._summaries:
            _summarise(found, event)
        return found

    def turns(self) -> tuple[Turn, ...]:
        """The turns of `sent`. An answer in which nothing came is left out: no server takes an empty one."""
        return tuple(entry.turn for entry in self.sent if entry.turn.parts)

    def _ended(self, event: talk.CallEnded) -> None:
        """The first end of a call counts, and only while its answer is open: what was sent never changes."""
        if self._open and any(isinstance(part, Call) and part.id == event.id for part in self._open.parts):
            self._open.results.setdefault(event.id, event.result)

    def _close(self) -> None:
        """No more comes of the open answer."""
        if self._open is None:
            return
        if self._open.parts:
            self._entries.append(Entry(self._open.id, self._open.closed()))
        self._entries += self._open.said
        self._open = None

    def _rewind(self, to: str) -> None:
        self._close()
        ids = [entry.id for entry in self._entries]
        if to in self._folded:
            return  # a summary is no turn
        if to in ids:
            del self._entries[ids.index(to) :]
        elif self._folded:
            whole = self._whole()  # that turn may be one of those that were let go
            whole._rewind(to)
            self._entries, self._summaries, self._folded = whole._entries, whole._summaries, set()
            self._fold()

    def _fold(self) -> None:
        """Lets go of the turns that are sent as a summary. No later event but a rewinding brings them back."""
        self._folded |= {event.id for event in self._summaries if _summarise(self._entries, event)}
        self._summaries = []

    def _whole(self) -> History:
        """The same with all turns, read again."""
        assert self.again is not None
        return History(islice(self.again(), self._taken))


def _summarise(entries: list[Entry], event: talk.Compacted) -> bool:
    """Puts the summary in the place of its turns. One whose turns were rewound finds them no more."""
    ids = [entry.id for entry in entries]
    if event.first not in ids or event.last not in ids:
        return False
    first, last = ids.index(event.first), ids.index(event.last)
    entries[first : last + 1] = [Entry(event.id, Said((Text(event.summary),), Author.DESKAGENT))]
    return True
