"""How likely a candidate is the right one, as far as its place and its code tell; `model` adds what a model says."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from deskagent.repair.hints import Hints
from deskagent.repair.scope import Name, Names
from deskagent.repair.source import SourceFile
from deskagent.repair.tokens import TokenStream
from deskagent.repair.types import Candidate


class Seen(Protocol):
    """A place, of whatever language, for what a scorer asks of it."""

    @property
    def names(self) -> Names:
        """The names that can be used there."""
        ...


_Pair = tuple[bytes, bytes]


@dataclass(frozen=True)
class ScoreContext:
    """What is known where the candidates were made: all of one batch belong to one statement."""

    source: SourceFile
    place: Seen
    stream: TokenStream
    hints: Hints

    @cached_property
    def pairs(self) -> Counter[_Pair]:
        """Neighbouring tokens in the file, counted."""
        return self.stream.pairs

    @cached_property
    def habits(self) -> dict[tuple[int, int], tuple[Set[_Pair], float]]:
        """(index, number of tokens) that candidates take out → neighbours that occur nowhere else in the file, and the
        share of those that do."""
        return {}


class Scorer(Protocol):
    """Ranks candidates; higher is better, on the scale of natural logarithms of odds."""

    def score(self, context: ScoreContext, candidates: Sequence[Candidate]) -> Sequence[float]:
        """One log-weight for each candidate, in order."""
        ...


# exception in the failing tests → operator or family → added log-weight
AFFINITY: Mapping[str, Mapping[str, float]] = {
    "AttributeError": {
        "guard": 0.4,
        "condition.extra": 0.4,
        "member": 0.4,
        "name": 0.2,
        "call.wrap": 0.3,
        "state.kept": 0.8,
    },
    "IndexError": {
        "index": 0.6,
        "arithmetic.offset": 0.4,
        "constant.integer": 0.3,
        "guard": 0.5,
        "condition.extra": 0.5,
        "compare.boundary": 0.6,
        "condition.loop": 0.8,
        "call.range": 0.6,
        "compare.size": 0.5,
    },
    "KeyError": {"call.get": 1.0, "index": 0.6, "name": 0.4, "constant.string": 0.5, "guard": 0.3},
    "RecursionError": {
        "compare.size": 1.0,
        "compare": 0.5,
        "call.order": 0.8,
        "arithmetic.offset": 0.6,
        "guard": 0.6,
        "condition": 0.4,
        "arithmetic.term": 0.4,
        "name.part": 0.4,
    },
    "Timeout": {
        "condition.loop": 0.8,
        "compare": 0.4,
        "arithmetic.augmented": 0.5,
        "arithmetic.offset": 0.5,
        "statement.insert": 0.3,
        "arithmetic.operator": 0.2,
    },
    "ZeroDivisionError": {"guard": 0.8, "condition.extra": 0.6, "arithmetic": 0.4, "compare": 0.3},
    "NameError": {"name": 1.2, "import": 1.5},
    "ImportError": {"import": 1.5},
    "UnboundLocalError": {"name": 0.5, "statement": 0.8, "constant": -0.5, "clause.else": 1.0},
    "TypeError": {
        "call": 0.4,
        "return.missing": 0.5,
        "guard": 0.3,
        "constant.word": 0.3,
        "condition.extra": 0.2,
    },
    "ValueError": {"guard": 0.2, "call": 0.2, "index": 0.2, "name.builtin": 0.1},
    "StopIteration": {"guard": 0.4, "call": 0.3},
}
_GIVE_NAMES = frozenset({"import.more", "state.kept", "clause.else", "statement.super", "member.more"})
_NAME = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*")
_IDEMPOTENT = frozenset(
    {
        b"<",
        b"<=",
        b">",
        b">=",
        b"==",
        b"!=",
        b"-",
        b"and",
        b"or",
        b"is",
        b"//",
        b"/",
        b"%",
        b"^",
        b"in",
        b"===",
        b"!==",
        b"&&",
        b"||",
        b"??",
    }
)


class PriorScorer:
    """Priors of the edit kinds, moved by cheap signs: names nobody uses, words of the request, the file's habits,
    silly results. No training, no state."""

    def score(self, context: ScoreContext, candidates: Sequence[Candidate]) -> Sequence[float]:
        return [self._score(context, candidate) for candidate in candidates]

    def _score(self, context: ScoreContext, candidate: Candidate) -> float:
        index, gone, new = context.stream.change(candidate.edits)
        score = math.log(candidate.prior)
        score += affinity(candidate.operator, context.hints)
        score += 0.6 * _habit(context, index, gone, new)
        score += _names(context, gone, new, candidate.operator in _GIVE_NAMES)
        score += _silly(
            context.stream.window(index, 3, 0), new, context.stream.window(index + len(gone), 0, 3)
        )
        score -= 0.03 * max(0, len(new) - len(gone))
        return score


def _habit(context: ScoreContext, index: int, gone: Sequence[bytes], new: Sequence[bytes]) -> float:
    """How much more of the new text's neighbourhoods than of the old one's occur elsewhere in the file."""
    left, right = context.stream.window(index, 1, 0), context.stream.window(index + len(gone), 0, 1)
    known = context.habits.get((index, len(gone)))
    if known is None:
        before = list(itertools.pairwise((*left, *gone, *right)))
        own = Counter(before)
        here_alone = {pair for pair, count in own.items() if context.pairs[pair] <= count}
        known = context.habits[index, len(gone)] = here_alone, _seen(context.pairs, here_alone, before)
    here_alone, rate_before = known
    after = list(itertools.pairwise((*left, *new, *right)))
    return _seen(context.pairs, here_alone, after) - 0.5 * rate_before


def _seen(pairs: Mapping[_Pair, int], here_alone: Set[_Pair], found: Sequence[_Pair]) -> float:
    """The share of neighbours that occur elsewhere in the file, too."""
    if not found:
        return 0.5
    return (sum(map(pairs.__contains__, found)) - sum(map(here_alone.__contains__, found))) / len(found)


def affinity(operator: str, hints: Hints) -> float:
    """What the exceptions of the failing tests say for an operator; the most specific row counts."""
    family = operator.partition(".")[0]
    found = [
        AFFINITY[e].get(operator, AFFINITY[e].get(family, 0.0)) for e in hints.exceptions if e in AFFINITY
    ]
    return max(found, default=0.0)


def _names(context: ScoreContext, gone: Sequence[bytes], new: Sequence[bytes], gives: bool) -> float:
    """Signs from names that come or go; a name that was missing is welcome where the edit gives it its value."""
    hints, names = context.hints, context.place.names
    old, fresh = set(gone), set(new)
    came = {t.decode("utf-8", "replace") for t in fresh - old if _NAME.fullmatch(t)}
    went = {t.decode("utf-8", "replace") for t in old - fresh if _NAME.fullmatch(t)}
    score = 0.0
    for text in came:
        name = names.get(text)
        if name is not None and _idle(name):
            score += 1.2
        if text in hints.meant:
            score += 1.5
        if text in hints.missing and text not in hints.none_attributes and not gives:
            score -= 2.0
        if text in hints.request:
            score += 0.4
        elif text in hints.message and name is not None and name.origin not in {"parameter"}:
            score += 0.15
    for text in went:
        name = names.get(text)
        if text in hints.missing:
            score += 1.0
        if name is not None and name.origin in {"parameter", "local"} and name.reads <= 1:
            score -= 0.5
    return max(-3.0, min(2.0, score))


def _idle(name: Name) -> bool:
    """A parameter or local whose value is never used."""
    return (
        name.origin in {"parameter", "local"}
        and name.reads == 0
        and name.text not in {"self", "cls", "args", "kwargs"}
        and not name.text.startswith("_")
    )


def _silly(left: Sequence[bytes], new: Sequence[bytes], right: Sequence[bytes]) -> float:
    """`x < x`, `a - a`, `x = x`, `f(x, x)`: what hardly anyone means."""
    tokens = (*left, *new, *right)
    begin, end = len(left), len(left) + len(new)
    score = 0.0
    alike = [i for i, (one, two) in enumerate(zip(tokens, tokens[2:], strict=False), 1) if one == two]
    for i in alike:
        if i + 1 < begin or i - 1 >= end or not _NAME.fullmatch(tokens[i - 1]):
            continue
        before = tokens[i - 2] if i >= 2 else b""
        after = tokens[i + 2] if i + 2 < len(tokens) else b""
        whole = before not in {b".", b"*", b"/"} and after not in {b".", b"(", b"[", b"*"}
        if tokens[i] in _IDEMPOTENT and whole:
            score -= 2.5
        elif tokens[i] == b"=" and whole and after[:1] in {b"\n", b""}:
            score -= 3.0
        elif tokens[i] == b"," and whole:
            score -= 0.8
    return score
