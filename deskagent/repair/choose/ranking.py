"""The order of green patches: every sign weighted and summed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence

from deskagent.repair.choose import agreement, code, kinds, words
from deskagent.repair.choose.behaviour import Comparison
from deskagent.repair.choose.types import Choice, Context, Reason, Sign
from deskagent.repair.choose.view import view
from deskagent.repair.choose.weights import WEIGHTS
from deskagent.repair.hints import read_hints
from deskagent.repair.search import Trial


def rank(green: Sequence[Trial], context: Context) -> list[Choice]:
    """`green` in order, the likeliest right one first. The same input gives the same order."""
    hints = read_hints(context.request, context.baseline)
    failing = context.baseline.failing if context.baseline else ()
    places = {(s.path, s.line): s.score for s in context.suspects}
    highest = max(places.values(), default=1.0)
    comparison = Comparison(context.behaviour, [t.number for t in green])
    stated = agreement.signs(comparison)
    done = {n: _weighed([*signs, *stated.pop(n, ())]) for n, signs in comparison.signs().items()}
    done |= {n: _weighed(signs) for n, signs in stated.items()}
    least = min((len(t.verdict.left) for t in green), default=0)
    usual = sum(r.weight for rs in done.values() for r in rs) / max(1, len(comparison.seen))
    scored: list[tuple[float, Trial, tuple[Reason, ...]]] = []
    for trial in green:
        suspicion = places.get((trial.candidate.path, trial.candidate.line), 0.0) / highest
        found = [*_edit(trial, _size(trial, context), suspicion), *_left(trial, least)]
        seen = view(trial, context.read, hints)
        if seen is not None:
            found += [*code.signs(seen), *kinds.signs(seen), *words.signs(seen, failing)]
        reasons = (*_weighed(found), *done.get(trial.number, ()))
        if comparison.keys and trial.number not in comparison.seen:
            reasons = (*reasons, Reason("unseen", usual, "was not compared by what it does"))
        scored.append((sum(r.weight for r in reasons), trial, reasons))
    scored.sort(key=lambda row: (-row[0], row[1].number))
    numbers: dict[int, int] = {}
    choices = []
    for score, trial, reasons in scored:
        cluster = comparison.clusters.get(trial.number)
        shown = numbers.setdefault(cluster, len(numbers) + 1) if cluster else 0
        choices.append(Choice(trial, score, reasons, shown))
    return choices


def _weighed(signs: Iterable[Sign]) -> tuple[Reason, ...]:
    return tuple(Reason(sign.name, WEIGHTS[sign.name] * sign.amount, sign.text) for sign in signs)


def _edit(trial: Trial, size: int, suspicion: float) -> Iterator[Sign]:
    """What is known of the edit without a look at the code."""
    candidate = trial.candidate
    yield Sign("kind", math.log(max(candidate.prior, 1e-9)))
    yield Sign("size", size)
    yield Sign("late", math.log(trial.number))
    if suspicion > 0:
        yield Sign("place", math.log(suspicion))


def _left(trial: Trial, least: int) -> Iterator[Sign]:
    """Tests beside those asked for that fail with this patch as before, though they pass with another."""
    left = trial.verdict.left
    if len(left) > least:
        yield Sign("left", 1 - least / len(left), f"{left[0]} still fails")


def _size(trial: Trial, context: Context) -> int:
    """Characters taken out and put in, without those that an edit only repeats."""
    if len(trial.candidate.edits) > 1:
        return sum(edit.end - edit.start + len(edit.new) for edit in trial.candidate.edits)
    pairs = [(context.read(path), after) for path, after in trial.files.items()]
    return sum(len(one) + len(two) - 2 * _common(one, two) for one, two in pairs)


def _common(one: bytes, two: bytes) -> int:
    """Bytes shared at the beginning and the end."""
    start = _same(one, two)
    return start + _same(one[start:][::-1], two[start:][::-1])


def _same(one: bytes, two: bytes) -> int:
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, two, strict=False)))
