"""What has to be known of a session before it is gone on with: its folder, and which changes are half done."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import msgspec

from deskagent.session import events, kept
from deskagent.session.journal import Journal
from deskagent.session.record import Record


class _Kept(msgspec.Struct, frozen=True):
    cwd: str
    unsettled: list[events.ApplyIntent]


class Opened:
    """cwd: as the session began. unsettled: changes of which nobody has said yet how they ended, the oldest first."""

    NAME: ClassVar[str] = "opened"
    KEPT: ClassVar[Any] = _Kept

    def __init__(self, cwd: str = "", unsettled: list[events.ApplyIntent] | None = None) -> None:
        self.cwd = cwd
        self.unsettled = unsettled or []

    @classmethod
    def begun(cls, journal: kept.Readable, kept: _Kept | None) -> Self:
        return cls(kept.cwd, kept.unsettled) if kept else cls()

    def see(self, record: Record) -> None:
        match record.event:
            case events.SessionStarted(cwd=cwd):
                self.cwd = self.cwd or cwd
            case events.ApplyIntent() as intent:
                self.unsettled.append(intent)
            case events.ApplyResult(id=id):
                self.unsettled = [intent for intent in self.unsettled if intent.id != id]
            case _:
                pass

    def dump(self) -> _Kept:
        return _Kept(self.cwd, self.unsettled)


def read(journal: Journal) -> Opened:
    """It of the session in `journal`."""
    return kept.view(journal, Opened)
