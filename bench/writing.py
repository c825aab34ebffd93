"""How often the developer's own line is among a hundred proposals at the true place, on fixes out of real histories."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from candidates import baseline_of
from choices import difference, is_fix
from known_fixes import Case, histories
from region import Region

from deskagent.repair.model.ahead import Ahead
from deskagent.repair.model.judge import Judge, failure_of
from deskagent.repair.model.weights import Weights
from deskagent.repair.rank import iter_ranked
from deskagent.repair.source import SourceFile
from deskagent.repair.types import Candidate, Suspect

PROPOSALS, DRAWN = 100, 400
"""Proposals that count; typed edits that a model orders."""
_MOST_LINES = 6
"""An insertion of more isn't one that an edit is expected to make."""


def written(
    files: Sequence[Path], mirror: Path, python: Path, cache: Path | None, judge: Judge, weights: Weights
) -> list[dict[str, Any]]:
    """A row for one-line replacements and one for insertions: cases, and how many of them were written."""
    rows = {kind: {"kind": kind, "cases": 0, "typed": 0, "model": 0} for kind in ("replacement", "insertion")}
    for case, _ in histories(list(files), mirror, python, ""):
        path, after = next(iter(case.answers[0].items()))
        before = SourceFile.read(case.project, path).utf8
        kind = None if case.held else kind_of(before, after)
        if kind is None:
            continue
        rows[kind]["cases"] += 1
        for who, proposals in (
            ("typed", typed(case, cache)),
            ("model", ordered(case, cache, judge, weights)),
        ):
            right = is_fix(before, path, Region.of(before, after))
            rows[kind][who] += any(map(right, proposals))
    return list(rows.values())


def kind_of(before: bytes, after: bytes) -> str | None:
    """None for a fix that is neither one line replaced nor some lines put in, in one place."""
    old, new = (code.decode("utf-8", "replace").splitlines() for code in (before, after))
    blocks = [
        b for b in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes() if b[0] != "equal"
    ]
    if len(blocks) != 1:
        return None
    kind, i, j, k, m = blocks[0]
    if kind == "replace" and j - i == m - k == 1:
        return "replacement"
    return "insertion" if kind == "insert" and m - k <= _MOST_LINES else None


def places(before: bytes, after: bytes, path: str) -> list[Suspect]:
    """The line that goes, or those that the new ones stand between."""
    edit = difference(path, before, after)
    line = before.count(b"\n", 0, edit.start) + 1
    return [
        Suspect(path, row, 1.0) for row in ((line, line - 1) if edit.start == edit.end else (line,)) if row
    ]


def typed(case: Case, cache: Path | None) -> list[Candidate]:
    return [ranked.candidate for ranked in itertools.islice(_stream(case, cache), PROPOSALS)]


def ordered(case: Case, cache: Path | None, judge: Judge, weights: Weights) -> list[Candidate]:
    """The best of more typed edits, as the model and the priors agree."""
    drawn = itertools.islice(_stream(case, cache), DRAWN)
    stream = Ahead(drawn, judge, weights, failure_of(baseline_of(case, cache)), case.request)
    found = stream.best(PROPOSALS)
    stream.close()
    return found


def _stream(case: Case, cache: Path | None):
    path, after = next(iter(case.answers[0].items()))
    before = SourceFile.read(case.project, path).utf8
    return iter_ranked(
        lambda name: SourceFile.read(case.project, name), places(before, after, path), request=case.request,
        baseline=baseline_of(case, cache),
    )  # fmt: skip
