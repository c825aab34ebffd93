"""How often the developer's own line is among a hundred proposals at the true place, on fixes out of real histories."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from choice_cache import Lines, speaker, told
from choices import is_fix

from deskagent.repair.model.ahead import Ahead
from deskagent.repair.model.judge import Judge
from deskagent.repair.model.measure.hunk import Hunk
from deskagent.repair.model.measure.suites import Fix
from deskagent.repair.model.weights import Weights
from deskagent.repair.model.writer.answer import Writer
from deskagent.repair.model.writer.written import WIDTHS, Written
from deskagent.repair.rank import Ranked, iter_ranked
from deskagent.repair.source import SourceFile
from deskagent.repair.syntax import Syntax
from deskagent.repair.types import Candidate, Suspect

PROPOSALS, DRAWN = 100, 300
"""Proposals that count; typed edits that a model orders."""
KINDS = ("replacement", "insertion")
WHO = ("typed", "model", "written")


def written(fixes: Sequence[Fix], judge: Judge, weights: Weights, path: Path | None) -> list[dict[str, Any]]:
    """A row for one-line replacements and one for insertions: cases, and how many of them were written. path: where
    what is known is kept."""
    kept = Lines(path)
    rows = {kind: {"kind": kind, "cases": 0, **dict.fromkeys(WHO, 0)} for kind in KINDS}
    wanted = [fix for fix in fixes if Hunk.of(fix.before.encode(), fix.after.encode()).kind in rows]
    for fix in told(wanted, speaker("writing")):
        known = kept.found.get(fix.name, {})
        if known is not None and known.keys() != set(WHO):
            kept.add(fix.name, _found(fix, judge, weights))
        if kept.found[fix.name] is None:
            continue
        row = rows[str(Hunk.of(fix.before.encode(), fix.after.encode()).kind)]
        row["cases"] += 1
        for who, there in kept.found[fix.name].items():
            row[who] += there
    return list(rows.values())


def _found(fix: Fix, judge: Judge, weights: Weights) -> dict[str, bool] | None:
    """By whom the fix is proposed; None for a file that can't be read as Python."""
    try:
        right = is_fix(fix.before.encode(), fix.path, fix.after.encode())
        syntax = Syntax(SourceFile.from_bytes(fix.path, fix.before.encode()))
    except (SyntaxError, ValueError, RecursionError):
        return None
    first = ordered(fix, syntax, judge, weights)
    return {
        "typed": any(map(right, typed(fix, syntax))),
        "model": any(map(right, first)),
        "written": any(map(right, both(fix, syntax, first, judge, weights))),
    }


def typed(fix: Fix, syntax: Syntax) -> list[Candidate]:
    return [ranked.candidate for ranked in itertools.islice(_stream(fix, syntax), PROPOSALS)]


def ordered(fix: Fix, syntax: Syntax, judge: Judge, weights: Weights) -> list[Candidate]:
    """The best of more typed edits, as the model and the priors agree."""
    stream = Ahead(itertools.islice(_stream(fix, syntax), DRAWN), judge, weights, fix.failure, fix.request)
    found = stream.best(PROPOSALS)
    stream.close()
    return found


def both(
    fix: Fix, syntax: Syntax, first: Sequence[Candidate], judge: Judge, weights: Weights
) -> list[Candidate]:
    """The same, with the model's own edits among them as a search has them. first: those that it orders."""
    if not isinstance(judge, Writer):
        return list(first)
    source = Written(judge, weights, fix.failure, fix.request, patience=0.0)
    source.more(len(WIDTHS) - 1)
    for _ in source.watch(itertools.islice(_stream(fix, syntax), PROPOSALS)):
        pass
    source.settle()
    found = list(itertools.islice(source.among(iter(first)), PROPOSALS))
    source.close()
    return found


def _stream(fix: Fix, syntax: Syntax) -> Iterator[Ranked]:
    lines = Hunk.of(fix.before.encode(), fix.after.encode()).places(syntax)
    return iter_ranked(
        lambda _: syntax.source, [Suspect(fix.path, line, 1.0) for line in lines], request=fix.request
    )
