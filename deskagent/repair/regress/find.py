"""Finds what made the failing tests fail: the last green commit, the guilty one, the smallest part that counts."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from deskagent.errors import UsageError
from deskagent.repair.budget import Budget, Limits
from deskagent.repair.regress import bisect
from deskagent.repair.regress.bisect import FURTHEST, Guilty, Standing
from deskagent.repair.regress.changes import Changes, Piece, pieces_of
from deskagent.repair.regress.ddmin import Shrunk, minimise
from deskagent.repair.regress.standing import Count, Court, OutOfTime, Probe
from deskagent.repair.regress.trees import TooFar, Trees, then
from deskagent.repair.source import SourceError
from deskagent.repair.types import Baseline
from deskagent.repo import git, history
from deskagent.repo.history import Commit

AUTO = "auto"
_MANY = 4000  # commits between a named one and HEAD
_LOOKING = 0.6  # of the time
_NAMED = 3  # files or tests in a notice
_ALONE = 8  # failing tests that are looked at one by one


@dataclass(frozen=True)
class Regression:
    """`green` is the last commit known to be green, `culprit` the one to blame (None: not committed yet where
    `uncommitted`, else untold among `between`). `own` are the culprit's changes as far as they are still there,
    `pieces` the fewest whole changes whose revert makes the failing tests pass, `lines` the fewest lines of them,
    `words` the fewest words of these; all empty where taking all of them back was no help. `tests` are the failing
    tests that this is about, `apart` those that failed before it already, of another cause."""

    green: Commit
    culprit: Commit | None
    between: tuple[Commit, ...]
    uncommitted: bool
    changes: Changes
    own: tuple[Piece, ...]
    pieces: tuple[Piece, ...]
    lines: tuple[Piece, ...]
    words: tuple[Piece, ...]
    minimal: bool
    tests: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """Where the guilty change comes from, in words."""
        if self.culprit is not None:
            return str(self.culprit)
        return "what is not committed" if self.uncommitted else f"the commits after {self.green}"


@dataclass
class Found:
    """What a look into the past brought: a regression or None, what is to be said, test runs and seconds."""

    regression: Regression | None = None
    notices: list[str] = field(default_factory=list)
    runs: int = 0
    seconds: float = 0.0


def check(project: Path, since: str) -> None:
    """Sees that `since` (a revision or "auto") can be looked at in the folder `project`. UsageError."""
    if since == AUTO:
        return
    if git.root(project) is None:
        raise UsageError(f"--since {since}: {project} is not in a git repository.", hint="Leave --since out.")
    if history.commit(project, since) is None:
        raise UsageError(
            f"--since {since} names no commit of this repository.",
            hint="Give a branch, a tag, a commit that is in this clone, or auto.",
        )


def find(project: Path, since: str, *, baseline: Baseline, probe: Probe, budget: Budget) -> Found:
    """Looks for the regression behind the failures of `baseline` since the revision `since`, which must be green, or
    ("auto") since whichever commit was.

    Nothing of the project is changed. UsageError where the tests aren't green at `since`, GitError for a repository
    that git can't read.
    """
    found = Found()
    began = time.monotonic()
    court = Court(probe, baseline, budget, Count())
    try:
        found.regression = _find(project, since, court, found.notices)
    except OutOfTime:
        found.notices.append("The look for the last green commit ended at its share of the time.")
    found.runs, found.seconds = court.count.runs, time.monotonic() - began
    if court.count.unsteady:
        found.notices.append("A failing test passed and failed at one and the same commit: it is flaky.")
    return found


def _find(project: Path, since: str, court: Court, notices: list[str]) -> Regression | None:
    head = history.commit(project, "HEAD") if git.root(project) is not None else None
    if head is None:
        notices.append("There is no commit to look back to: the search goes on without.")
        return None
    trees = Trees(project, head)
    # A part of the time is kept for shrinking what is found.
    looking = court.within(court.budget.part(Limits(seconds=_LOOKING * court.budget.seconds_left)))
    past, part = _Past(trees, looking), _Part()
    try:
        guilty = _since_auto(trees, past, notices) if since == AUTO else _since(trees, since, past)
    except UsageError:
        guilty, part = _part(trees, since, looking)
        if guilty is None:
            raise
    else:
        if guilty is None:
            guilty, part = _part(trees, since, looking)
        if guilty is None:
            return None
    if part.tests:
        past, court = _Past(trees, looking.only(part.tests)), court.only(part.tests)
    culprit = bisect.into_branches(project, guilty, past, past.stop)
    regression = replace(_shrink(trees, guilty, culprit, court), tests=part.tests, apart=part.apart)
    _say(regression, trees, notices)
    return regression


class _Past:
    """Tells how the tests stand at a commit, once each."""

    def __init__(self, trees: Trees, court: Court) -> None:
        self._trees, self._court = trees, court
        self._known: dict[str, Standing] = {}

    def stop(self) -> bool:
        return self._court.budget.exhausted

    def __call__(self, commit: Commit) -> Standing:
        if commit.id not in self._known:
            try:
                self._known[commit.id] = self._court.standing(then(self._trees.since(commit)))
            except TooFar:
                self._known[commit.id] = Standing.SKIP
            except OutOfTime:
                return Standing.SKIP
        return self._known[commit.id]


@dataclass(frozen=True)
class _Part:
    """Failing tests that have one cause, and those that have another; both empty where all are one matter."""

    tests: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()


def _part(trees: Trees, since: str, looking: Court) -> tuple[Guilty | None, _Part]:
    """Looks for a regression behind one of the failing tests, where there is no commit at which all of them pass."""
    failing = [result.id for result in looking.baseline.failing]
    alone = {name: _Past(trees, looking.only((name,))) for name in failing[:_ALONE]}
    for past in alone.values() if len(failing) > 1 else ():
        try:
            guilty = _since_auto(trees, past, []) if since == AUTO else _since(trees, since, past)
        except UsageError:
            continue
        if guilty is None:
            continue
        tests = [n for n, its in alone.items() if its(guilty.green) is Standing.GREEN]
        if guilty.red is not None:
            tests = [n for n in tests if alone[n](guilty.red) is not Standing.GREEN]
        return guilty, _Part(tuple(tests), tuple(n for n in failing if n not in tests))
    return None, _Part()


def _since_auto(trees: Trees, past: _Past, notices: list[str]) -> Guilty | None:
    commits = history.line(trees.project, trees.head.id, limit=FURTHEST + 1)
    guilty = bisect.last_green(commits, past, dirty=trees.dirty, stop=past.stop)
    if guilty is None:
        cut = " (the clone is shallow: older ones are not in it)" if history.is_shallow(trees.project) else ""
        back = f"the last {len(commits)} commits" if len(commits) > 1 else "the only commit"
        why = " in its share of the time" if past.stop() else ""
        notices.append(f"No commit at which the failing tests pass was found among {back}{cut}{why}.")
    return guilty


def _since(trees: Trees, since: str, past: _Past) -> Guilty:
    commit = history.commit(trees.project, since)
    assert commit is not None, "check() comes first"
    standing = past(commit)
    if standing is Standing.SKIP and past.stop():
        raise OutOfTime
    if standing is not Standing.GREEN:
        how = "fail too" if standing is Standing.RED else "can't be run, or fail in another way,"
        raise UsageError(
            f"The failing tests {how} at {commit}.",
            hint="Name a commit at which they pass, or use --since auto.",
        )
    later = history.line(trees.project, trees.head.id, limit=_MANY, without=commit.id)
    if not history.is_ancestor(trees.project, commit.id, trees.head.id):
        return Guilty(commit, None, later)
    if not trees.dirty:
        return bisect.narrow((*later, commit), {0: Standing.RED}, past, past.stop)
    found = bisect.last_green(later[:1], past, dirty=True, stop=lambda: False)
    return found or bisect.narrow((*later, commit), {0: Standing.RED}, past, past.stop)


def _shrink(trees: Trees, guilty: Guilty, culprit: Commit | None, court: Court) -> Regression:
    """The fewest changes, and the fewest lines of these, whose revert makes the tests pass."""
    changes = pieces_of(trees.since(guilty.green))
    uncommitted = guilty.green.id == trees.head.id
    own = changes.pieces if culprit is None else _of_commit(trees, culprit, changes.pieces)
    out_of_time = False

    def works(pieces: Sequence[Piece]) -> bool:
        nonlocal out_of_time
        try:
            return bool(pieces) and court.passes(changes.reverted(pieces))
        except SourceError:
            return False
        except OutOfTime:
            out_of_time = True
            return False

    def smallest(pieces: Sequence[Piece]) -> Shrunk[Piece]:
        return minimise(pieces, works, stop=lambda: out_of_time)

    def finer(pieces: Sequence[Piece], known: Shrunk[Piece]) -> Shrunk[Piece]:
        return smallest(pieces) if len(pieces) > len(known.items) else Shrunk(tuple(pieces), known.minimal)

    start = own if works(own) else changes.pieces if own != changes.pieces and works(changes.pieces) else ()
    few = smallest(start)
    lines = finer(changes.in_lines(few.items), few)
    parts = finer(changes.in_words(lines.items), lines)
    return Regression(
        green=guilty.green,
        culprit=culprit,
        between=guilty.between,
        uncommitted=uncommitted,
        changes=changes,
        own=own,
        pieces=few.items,
        lines=lines.items,
        words=parts.items,
        minimal=parts.minimal and not out_of_time,
    )


def _of_commit(trees: Trees, commit: Commit, pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """Those of `pieces` that `commit` brought, as far as the lines tell."""
    if not commit.parents:
        return tuple(pieces)
    wrote = trees.lines_of(commit)
    found = []
    for piece in pieces:
        gone, came = Counter[str](), Counter[str]()
        for path in {piece.path, piece.before}:
            gone.update(wrote.get(path, (Counter(), Counter()))[0])
            came.update(wrote.get(path, (Counter(), Counter()))[1])
        hunk = piece.hunk
        if (hunk is None and piece.path in wrote) or (
            hunk is not None and (_any(hunk.gone, gone) or _any(hunk.came, came))
        ):
            found.append(piece)
    return tuple(found)


def _any(lines: Iterable[str], of: Mapping[str, int]) -> bool:
    return any(line.strip() and of.get(line.strip()) for line in lines)


def _names(tests: Sequence[str]) -> str:
    more = f" and {len(tests) - _NAMED} more" if len(tests) > _NAMED else ""
    return ", ".join(tests[:_NAMED]) + more


def _say(found: Regression, trees: Trees, notices: list[str]) -> None:
    green = f"The failing tests were last green at {found.green}"
    if found.apart:
        green = f"Of the failing tests, {_names(found.tests)} passed at {found.green}"
    if found.culprit is not None:
        notices.append(f"{green} and fail since {found.culprit}.")
    elif found.uncommitted:
        notices.append(f"{green}, which is HEAD: what is not committed makes them fail.")
    else:
        notices.append(
            f"{green}; which of the {len(found.between) or 'later'} commits after it made them fail can't be told."
        )
    count = len(found.changes.pieces)
    if found.pieces:
        where = ", ".join(piece.where for piece in found.pieces[:_NAMED])
        more = f" and {len(found.pieces) - _NAMED} more" if len(found.pieces) > _NAMED else ""
        least = "" if found.minimal else " (fewer may do: the time was up)"
        notices.append(f"Of {count} changes since then, taking {where}{more} back is enough{least}.")
    else:
        notices.append(
            f"Taking back the {count} changes since then in the files as they are now does not help."
        )
    if found.apart:
        notices.append(
            f"Another cause is behind {_names(found.apart)}: that remains when this is taken back."
        )
    if trees.left_out:
        names = [f"{path} ({why})" for path, why in list(trees.left_out.items())[:_NAMED]]
        more = f" and {len(trees.left_out) - _NAMED} more" if len(trees.left_out) > _NAMED else ""
        notices.append(f"Kept as now at every commit: {', '.join(names)}{more}.")
