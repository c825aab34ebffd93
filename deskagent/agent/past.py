"""What a session's journal says has happened: the one reading of it that resume, undo and verify share."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Self

import msgspec

from deskagent.session import events, kept
from deskagent.session.journal import Journal
from deskagent.session.record import Record

_SEARCHED_OUT = {"limit", "not_fixed", "fixed", "nothing_to_fix", "undone"}
"""Ends of a run after which a further one is a new piece of work, with limits of its own."""

Setting = tuple[str, str]
"""Digest of the tree and line of the test command: outcomes hold where both are the same."""


@dataclass(frozen=True)
class Observed:
    """A test run on record, with the intent and result of its command."""

    tests: events.TestsObserved
    intent: events.CommandIntent | None
    result: events.CommandResult | None


@dataclass(frozen=True)
class Change:
    """A step that changed files, or may have: `result` is None where the process ended in between."""

    intent: events.ApplyIntent
    result: events.ApplyResult | None
    seq: int

    @property
    def made(self) -> bool:
        return self.result is not None and self.result.ok


@dataclass(frozen=True)
class Proof:
    """A patch that the exact command accepted, the runs without and with it, and the tree that both hold for."""

    patch: events.PatchFound
    before: Observed
    after: Observed
    tree: events.TreeRecorded | None


@dataclass
class Past:
    """A session so far.

    `spent`, `seconds` and `searching` count candidates, run time and search time since the last run that came
    to an end of its own; `tried`, `green` and `refuted` (green, but not to the exact command) are by setting;
    `tree` and `before` are the latest on record, `seen` the latest that belong together, `proof` is of the latest
    patch.
    """

    id: str
    cwd: str = ""
    request: events.Request | None = None
    spent: int = 0
    seconds: float = 0.0
    searching: float = 0.0
    tried: dict[Setting, dict[str, events.Trial]] = field(default_factory=dict)
    green: dict[Setting, dict[str, events.PatchFound]] = field(default_factory=dict)
    refuted: dict[Setting, set[str]] = field(default_factory=dict)
    tree: events.TreeRecorded | None = None
    before: Observed | None = None
    seen: tuple[Observed, events.TreeRecorded] | None = None
    proof: Proof | None = None
    changes: list[Change] = field(default_factory=list)
    end: events.SessionEnded | None = None

    @property
    def unsettled(self) -> list[Change]:
        """Changes of which nobody has said yet how they ended."""
        return [change for change in self.changes if change.result is None]


def read(journal: Journal) -> Past:
    """The session in `journal`, whatever ended it."""
    reader = kept.view(journal, Reading)
    reader.end_run()
    return reader.past


class _Kept(msgspec.Struct, frozen=True):
    """A Reading between two processes; what stands in it by setting, as pairs."""

    past: _KeptPast
    began: float
    last: float
    acting: float | None
    tree: events.TreeRecorded | None
    commands: dict[str, events.CommandIntent]
    ran: events.CommandIntent | None
    result: events.CommandResult | None
    verified: Observed | None
    found: dict[str, events.PatchFound]
    line: str


class _KeptPast(msgspec.Struct, frozen=True):
    id: str
    cwd: str
    request: events.Request | None
    spent: int
    seconds: float
    searching: float
    tried: list[tuple[Setting, list[events.Trial]]]
    green: list[tuple[Setting, list[events.PatchFound]]]
    refuted: list[tuple[Setting, set[str]]]
    tree: events.TreeRecorded | None
    before: Observed | None
    seen: tuple[Observed, events.TreeRecorded] | None
    proof: Proof | None
    changes: list[Change]
    end: events.SessionEnded | None


class Reading:
    """A Past in the making."""

    NAME: ClassVar[str] = "past"
    KEPT: ClassVar[Any] = _Kept

    def __init__(self, past: Past) -> None:
        self.past = past
        self._began = self._last = 0.0
        self._acting: float | None = None
        self._tree: events.TreeRecorded | None = None
        self._commands: dict[str, events.CommandIntent] = {}
        self._ran: events.CommandIntent | None = None  # the command that `_result` is of
        self._result: events.CommandResult | None = None
        self._verified: Observed | None = None
        self._found: dict[str, events.PatchFound] = {}
        self._line = ""

    @classmethod
    def begun(cls, journal: kept.Readable, kept: _Kept | None) -> Self:
        """As it was kept, or before the first event where that is None."""
        made = cls(Past(journal.path.name))
        if kept is not None:
            past = {
                **{name: getattr(kept.past, name) for name in kept.past.__struct_fields__},
                "tried": {at: {trial.key: trial for trial in them} for at, them in kept.past.tried},
                "green": {at: {patch.key: patch for patch in them} for at, them in kept.past.green},
                "refuted": dict(kept.past.refuted),
            }
            made.past = Past(**past)
            made._began, made._last, made._acting = kept.began, kept.last, kept.acting
            made._tree, made._commands, made._ran, made._result = (
                kept.tree,
                kept.commands,
                kept.ran,
                kept.result,
            )
            made._verified, made._found, made._line = kept.verified, kept.found, kept.line
        return made

    def dump(self) -> _Kept:
        """To be kept."""
        past = {
            **{each.name: getattr(self.past, each.name) for each in fields(Past)},
            "tried": [(at, list(them.values())) for at, them in self.past.tried.items()],
            "green": [(at, list(them.values())) for at, them in self.past.green.items()],
            "refuted": list(self.past.refuted.items()),
        }
        return _Kept(
            _KeptPast(**past), self._began, self._last, self._acting, self._tree, self._commands, self._ran,
            self._result, self._verified, self._found, self._line,
        )  # fmt: skip

    def see(self, record: Record) -> None:
        self.take(record.event, record.seq)

    def take(self, event: events.Event, seq: int) -> None:
        past = self.past
        match event:
            case events.SessionStarted():
                self.end_run()
                past.cwd = past.cwd or event.cwd
                self._began = event.time
                past.end = self._tree = None
            case events.Request():
                past.request = event
            case events.StepStarted(state="act"):
                self._acting = event.time
            case events.StepEnded() if self._acting is not None:
                past.searching += max(0.0, event.time - self._acting)
                self._acting = None
            case events.CommandIntent():
                self._commands[event.id] = event
            case events.CommandResult():
                self._ran, self._result = self._commands.pop(event.id, None), event
            case events.TestsObserved():
                self._tests(event)
            case events.TreeRecorded():
                past.tree = self._tree = event
                past.seen = (past.before, event) if past.before else past.seen
            case events.CandidatesTried(trials=trials):
                past.spent += len(trials)
                past.tried.setdefault(self._setting, {}).update((t.key, t) for t in trials)
            case events.PatchFound():
                self._found[event.key] = event
                past.green.setdefault(self._setting, {})[event.key] = event
            case events.StateChanged(target="done", why="proved"):
                self._prove()
            case events.ApplyIntent():
                past.changes.append(Change(event, None, seq))
            case events.ApplyResult():
                self._settle(event)
            case events.SessionEnded():
                past.end = event
            case _:
                pass
        self._last = max(self._last, event.time)

    def end_run(self) -> None:
        """A run is over, by its last event or by a kill."""
        past = self.past
        if self._acting is not None:
            past.searching += max(0.0, self._last - self._acting)
            self._acting = None
        if self._began:
            past.seconds += max(0.0, self._last - self._began)
            self._began = 0.0
        if past.end is not None and past.end.status in _SEARCHED_OUT:
            past.spent, past.seconds, past.searching = 0, 0.0, 0.0

    @property
    def _setting(self) -> Setting:
        return (self._tree.digest if self._tree else "", self._line)

    def _prove(self) -> None:
        after, before = self._verified, self.past.before
        patch = self._found.get(after.tests.patch) if after else None
        if patch and after and before:
            self.past.proof = Proof(patch, before, after, self._tree)

    def _tests(self, event: events.TestsObserved) -> None:
        seen = Observed(event, self._ran, self._result)
        self._line = event.command
        if event.stage == "observe":
            self.past.before = seen
        elif event.stage == "verify":
            self._verified = seen
            if event.green is False and not event.left:
                self.past.refuted.setdefault(self._setting, set()).add(event.patch)

    def _settle(self, event: events.ApplyResult) -> None:
        changes = self.past.changes
        for number, change in enumerate(changes):
            if change.intent.id == event.id and change.result is None:
                changes[number] = Change(change.intent, event, change.seq)


def standing(changes: list[Change]) -> list[Change]:
    """The changes that hold now, the oldest first: made, and not taken back by an undo that holds itself."""
    gone: set[str] = set()
    holding = []
    for change in reversed(changes):
        if change.made and change.intent.id not in gone:
            holding.append(change)
            gone |= set(change.intent.undoes)
    return list(reversed(holding))
