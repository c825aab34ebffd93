"""Going on with a session: which one, and what of its earlier runs still holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from deskagent.agent import tree, trials
from deskagent.agent.cold import ColdProof
from deskagent.agent.past import Past, standing
from deskagent.errors import DeskagentError
from deskagent.repair.search import Trial
from deskagent.repair.types import Candidate
from deskagent.repo import apply
from deskagent.session import events
from deskagent.session.blobs import Blobs

_NAMED = 5  # files in a notice


@dataclass(frozen=True)
class Reuse:
    """What needs not be done again: candidates that failed, and green ones to be tried first. `notice` says so,
    or why nothing holds any more."""

    red: tuple[events.Trial, ...] = ()
    green: tuple[Candidate, ...] = ()
    notice: str = ""


@dataclass(frozen=True)
class Applied:
    """A patch that this session has applied, still in the tree: what it was, contents before, the proofs."""

    trial: Trial
    contents: Mapping[str, bytes]
    before: ColdProof
    after: ColdProof


def reuse(past: Past, now: events.TreeRecorded | str, line: str, blobs: Blobs) -> Reuse:
    """What of `past` holds for the tree `now` (or the reason why that isn't known) and the command `line`.

    A candidate's outcome depends on every file that the tests may read and on the command: one that differs, and
    all are tried again.
    """
    count = sum(len(group) for group in past.tried.values())
    if not count:
        return Reuse()
    if isinstance(now, str):
        return Reuse(notice=f"All candidates are tried again: the project can't be compared ({now}).")
    setting = (now.digest, line)
    tried, green = past.tried.get(setting, {}), past.green.get(setting, {})
    refuted = past.refuted.get(setting, set())
    if not tried:
        return Reuse(notice=f"All candidates are tried again: {_why(past, now, line, blobs)}.")
    red = tuple(t for t in tried.values() if t.status != "green" or t.key in refuted)
    again = tuple(
        trials.candidate(patch) for key, patch in green.items() if patch.edits and key not in refuted
    )
    passed = f"; {_many(len(again), 'that passed is', 'that passed are')} checked again" if again else ""
    return Reuse(
        red,
        again,
        f"The project and the command are as they were: {_many(len(red), 'candidate', 'candidates')} that "
        f"failed {'is' if len(red) == 1 else 'are'} not tried again{passed}.",
    )


def applied(past: Past, project: Path, blobs: Blobs) -> Applied | None:
    """The session's patch, if it has applied one, nobody took it back, and the files are still so."""
    proof = past.proof
    steps = [change.intent for change in standing(past.changes) if change.intent.purpose == "apply"]
    if proof is None or not steps or not proof.patch.files:
        return None
    if {f.path: f.after for f in steps[-1].files} != {f.path: f.after for f in proof.patch.files}:
        return None
    try:
        pairs = {
            f.path: (blobs.get(f.before), blobs.get(f.after))
            for f in proof.patch.files
            if f.before and f.after
        }
        apply.check(project, {path: (after, before) for path, (before, after) in pairs.items()})
    except DeskagentError:
        return None  # it changed since: then the tests decide what is to be done
    trial = trials.trial(proof.patch, {path: after for path, (_, after) in pairs.items()})
    contents = {path: before for path, (before, _) in pairs.items()}
    return Applied(trial, contents, trials.proof(proof.before), trials.proof(proof.after))


def _why(past: Past, now: events.TreeRecorded, line: str, blobs: Blobs) -> str:
    if past.tree is None:
        return "the session doesn't say what the project was like"
    if past.tree.digest == now.digest:
        return f"the test command was another one, now it is `{line}`"
    try:
        names = tree.changed(tree.load(past.tree, blobs), tree.load(now, blobs))
    except DeskagentError:
        names = []
    if not names:
        return "the project changed since"
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more} changed since"


def _many(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
