"""Suspicion from the history: lines of the guilty change first; without one, a little for lines changed lately."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from deskagent.errors import DeskagentError
from deskagent.repair.regress.changes import Piece
from deskagent.repair.regress.find import Regression
from deskagent.repair.types import Suspect
from deskagent.repo import git, history
from deskagent.repo.git import GitError

LATELY = 10
"""Commits that count as lately."""
NOT_COMMITTED, CHANGED_LATELY = 1.25, 1.1
_GUILTY = 0.6
"""Least suspicion of a line whose revert makes the tests pass; what it had moves it within the rest."""
_OWN, _LATER, _OLDER = 0.55, 0.45, 0.3
"""What is left of the suspicion of a line that the guilty change touched besides, that was changed after the tests
were last green, and of any other."""
_MOST_LINES = 40  # of one change that no suspect is known of
_PATHS = 200

_log = logging.getLogger(__name__)


def first_suspects(suspects: Sequence[Suspect], found: Regression) -> tuple[Suspect, ...]:
    """`suspects` with those of the regression first, the most suspicious first; scores in (0, 1]."""
    guilty = _lines(found.lines or found.pieces)
    own, later = _lines(found.own), _lines(found.changes.pieces)
    changed = f"changed in {found.source}" if found.culprit else f"changed since {found.green}"
    if found.uncommitted:
        changed = f"not committed; at {found.green} the tests were green"
    moved = []
    for suspect in suspects:
        place = (suspect.path, suspect.line)
        if place in guilty:
            score, why = (
                _GUILTY + (1 - _GUILTY) * suspect.score,
                f"{changed}; taking it back makes the tests pass",
            )
        elif place in own:
            score, why = _OWN * suspect.score, changed
        elif place in later:
            score, why = (
                _LATER * suspect.score,
                f"changed after {found.green}, when the tests were last green",
            )
        else:
            score, why = _OLDER * suspect.score, ""
        moved.append(replace(suspect, score=score, reasons=(*filter(None, (why,)), *suspect.reasons)))
    known = {(suspect.path, suspect.line) for suspect in suspects}
    why = f"{changed}; taking it back makes the tests pass"
    new = [Suspect(path, line, _GUILTY, (why,)) for path, line in sorted(guilty - known)]
    return tuple(sorted((*moved, *new), key=lambda s: (-s.score, s.path, s.line)))


def changed_lately(project: Path, suspects: Sequence[Suspect]) -> tuple[Suspect, ...]:
    """`suspects` with a little more suspicion for lines that aren't committed, or were changed by the last commits;
    as they are outside of a repository, and where the history is shorter than that."""
    paths = list(dict.fromkeys(suspect.path for suspect in suspects))[:_PATHS]
    try:
        if not paths or git.root(project) is None:
            return tuple(suspects)
        fresh, late = _touched(project, paths)
    except DeskagentError as error:
        _log.info("no signal from git: %s", error.message)
        return tuple(suspects)
    moved = [_moved(suspect, fresh, late) for suspect in suspects]
    top = max(suspect.score for suspect in moved)
    scaled = [replace(suspect, score=suspect.score / top) for suspect in moved]
    return tuple(sorted(scaled, key=lambda s: (-s.score, s.path, s.line)))


def _touched(
    project: Path, paths: Sequence[str]
) -> tuple[Mapping[str, frozenset[int]], Mapping[str, frozenset[int]]]:
    try:
        fresh, late = history.touched_lines(project, ("HEAD", f"HEAD~{LATELY}"), paths)
    except GitError:  # most likely there are not so many commits
        (fresh,), late = history.touched_lines(project, ("HEAD",), paths), {}
    return fresh, late


def _moved(
    suspect: Suspect, fresh: Mapping[str, frozenset[int]], late: Mapping[str, frozenset[int]]
) -> Suspect:
    for lines, factor, why in (
        (fresh, NOT_COMMITTED, "not committed yet"),
        (late, CHANGED_LATELY, f"changed by one of the last {LATELY} commits"),
    ):
        if suspect.line in lines.get(suspect.path, ()):
            return replace(suspect, score=suspect.score * factor, reasons=(*suspect.reasons, why))
    return suspect


def _lines(pieces: Iterable[Piece]) -> set[tuple[str, int]]:
    return {
        (piece.path, line)
        for piece in pieces
        if piece.hunk is not None
        for line in range(piece.hunk.first, min(piece.hunk.last, piece.hunk.first + _MOST_LINES) + 1)
    }
