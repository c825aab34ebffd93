"""What a session changed, file by file and hunk by hunk, for a person who keeps some of it and takes the rest back.

All of it comes from the session's log. A hunk is taken back by a change of its own, on record, over exactly the bytes
that the session left: a file that somebody changed since is never written to.
"""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from deskagent.agent.apply import apply_patch
from deskagent.agent.past import Change, standing
from deskagent.agent.recorder import Recorder
from deskagent.errors import DeskagentError, UsageError
from deskagent.repair.diff import groups, readable, split
from deskagent.repo import beneath
from deskagent.session import events
from deskagent.session.blobs import Blobs
from deskagent.session.event import Event
from deskagent.session.journal import Journal

_APART = 1
"""Hunks with more than twice so many equal lines between them are two."""
_COMPARED = 40_000
"""Lines of both files together that are compared line by line; a longer file is one hunk."""


class Now(StrEnum):
    """What became of a file since the session changed it."""

    SAME = "same"
    CHANGED = "changed"
    GONE = "gone"


@dataclass(frozen=True)
class Hunk:
    """Lines [old[0], old[1]) of the contents before, from 0, became lines [new[0], new[1]). digest: names it as long as
    its lines stay the same. kept: the person said so."""

    old: tuple[int, int]
    new: tuple[int, int]
    digest: str
    kept: bool = False


@dataclass(frozen=True)
class Changed:
    """A file that the session changed. before, after: its contents, None where there is no file. mode: of the file
    before. now: what it is on the disk."""

    path: str
    before: bytes | None
    after: bytes | None
    mode: int
    hunks: tuple[Hunk, ...]
    now: Now = Now.SAME

    @property
    def binary(self) -> bool:
        return _binary(self.before) or _binary(self.after)

    @property
    def counts(self) -> tuple[int, int]:
        """Lines added and removed."""
        added = sum(hunk.new[1] - hunk.new[0] for hunk in self.hunks)
        return added, sum(hunk.old[1] - hunk.old[0] for hunk in self.hunks)

    def without(self, hunk: Hunk) -> bytes | None:
        """The contents with this hunk taken back."""
        if self.before is None or self.after is None:
            return self.before
        old, new = split(self.before), split(self.after)
        return b"".join((*new[: hunk.new[0]], *old[slice(*hunk.old)], *new[hunk.new[1] :]))

    def diff(self, hunk: Hunk) -> str:
        """The hunk as a unified diff for people."""
        return readable({self.path: (self.without(hunk), self.after)})


class Review:
    """Takes a session's events in order, and knows what they changed and what the person keeps of it."""

    def __init__(self) -> None:
        self._changes: list[Change] = []
        self._kept: dict[tuple[str, str], bool] = {}

    def take(self, event: Event, seq: int = 0) -> bool:
        """Whether `files` may have become another list by it."""
        match event:
            case events.ApplyIntent():
                self._changes.append(Change(event, None, seq))
                return False
            case events.ApplyResult():
                self._changes = [
                    replace(change, result=event)
                    if change.intent.id == event.id and change.result is None
                    else change
                    for change in self._changes
                ]
                return True
            case events.Kept():
                self._kept[event.path, event.hunk] = event.kept
                return True
            case _:
                return False

    def files(self, blobs: Blobs, project: Path) -> list[Changed]:
        """Those that are not as they were before the session, by path. Errors: DeskagentError of their contents."""
        found = []
        for path, file in sorted(_joined(standing(self._changes)).items()):
            before, after = (None if name is None else blobs.get(name) for name in (file.before, file.after))
            if before == after:
                continue
            hunks = (
                replace(hunk, kept=self._kept.get((path, hunk.digest), False))
                for hunk in _hunks(before, after)
            )
            found.append(Changed(path, before, after, file.mode, tuple(hunks), _now(project, path, after)))
        return found


def changed(journal: Journal, project: Path) -> list[Changed]:
    """The files that the session in `journal` changed. Errors: UsageError, TransientError."""
    review = Review()
    for record in journal.read():
        review.take(record.event, record.seq)
    return review.files(journal.blobs, project)


def keep(recorder: Recorder, file: Changed, hunk: Hunk, *, kept: bool = True) -> None:
    """Puts on record that the person keeps a hunk, or hasn't decided after all. Errors: TransientError."""
    recorder.emit(events.Kept(path=file.path, hunk=hunk.digest, kept=kept))


def reject(recorder: Recorder, project: Path, file: Changed, hunk: Hunk) -> str:
    """Takes a hunk back on the disk; gives what the model is told of it.

    Errors: ConflictError where the file is no longer what the session made of it, and then nothing is written; as
    `repo.apply`.
    """
    if hunk not in file.hunks:
        raise UsageError(f"{file.path} has no such hunk any more.", hint="Look at the changes anew.")
    wanted = file.without(hunk)
    modes = {file.path: file.mode}
    note = apply_patch(recorder, project, {file.path: (file.after, wanted)}, purpose="reject", modes=modes)
    told = f"The person reviewed {file.path} and took this back:\n{file.diff(hunk)}"
    return f"{told}\n({note})" if note else told


def _joined(steps: Iterable[Change]) -> dict[str, events.FileChange]:
    """The steps as one change per file: from what it was when the session last found it, where somebody else changed
    it in between."""
    joined: dict[str, events.FileChange] = {}
    for step in steps:
        if step.intent.purpose == "undo":
            continue
        for file in step.intent.files:
            first = joined.get(file.path)
            if first and first.after == file.before:
                file = events.FileChange(file.path, first.before, file.after, first.mode)
            joined[file.path] = file
    return joined


def _hunks(before: bytes | None, after: bytes | None) -> list[Hunk]:
    old, new = split(before or b""), split(after or b"")
    whole = before is None or after is None or _binary(before) or _binary(after)
    if whole or len(old) + len(new) > _COMPARED:
        return [Hunk((0, len(old)), (0, len(new)), _digest(old, new, 0))]
    found: list[Hunk] = []
    seen: dict[tuple[bytes, bytes], int] = {}
    for group in groups(old, new, _APART):
        codes = [code for code in group if code[0] != "equal"]
        o, n = (codes[0][1], codes[-1][2]), (codes[0][3], codes[-1][4])
        key = b"".join(old[slice(*o)]), b"".join(new[slice(*n)])
        seen[key] = number = seen.get(key, -1) + 1
        found.append(Hunk(o, n, _digest(old[slice(*o)], new[slice(*n)], number)))
    return found


def _binary(data: bytes | None) -> bool:
    return b"\0" in (data or b"")[:8192]


def _digest(old: list[bytes], new: list[bytes], number: int) -> str:
    """number: tells hunks with the same lines apart."""
    parts = (b"".join(old), b"".join(new), b"%d" % number)
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()[:16]


def _now(project: Path, path: str, after: bytes | None) -> Now:
    """Errors of reading count as a change: whatever lies there is not what the session left."""
    try:
        *folders, leaf = beneath.resolve(project, path)
        with beneath.folder(project, tuple(folders)) as folder:
            found = beneath.read(folder, leaf)
    except FileNotFoundError:
        found = None
    except (OSError, DeskagentError):
        return Now.CHANGED
    if found is None:
        return Now.SAME if after is None else Now.GONE
    return Now.SAME if found[0] == after and stat.S_ISREG(found[1].st_mode) else Now.CHANGED
