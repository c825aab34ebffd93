"""Two edits in one: pairs of a statement's own best edits, and a second edit on top of one that got the failing tests
further."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from deskagent.repair.types import Baseline, Candidate, Outcome, Status, Verdict

Valued = tuple[float, Candidate]
"""A candidate with its log-weight, its suspect's score included."""

NEAR, ALIKE = math.log(0.05), math.log(4)
"""Log-weight of a pair in one statement beside its two edits' own, and what is added where both are of one kind."""
MAX_NEAR, MAX_OF_A_KIND = 12, 3
HEALED, OTHERWISE = 1.5, -0.5
"""Log-weight of a second edit, where the first made some failing tests pass, and where they fail otherwise now."""
MAX_BASES, MAX_OF_A_SORT, MAX_SECONDS = 24, 3, 250
_EXPECTED = frozenset({"AssertionError"})
_LAST_WORDS = re.compile(r"E\s|(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Iteration)\b")
_RAISED = re.compile(r"\b([A-Z]\w*(?:Error|Exception|Iteration))\b")


def near(singles: Sequence[Valued], suspect: float) -> Iterator[Valued]:
    """Pairs of the best edits of one statement, whose own log-weight is `suspect`."""
    kinds: Counter[str] = Counter()
    best: list[Valued] = []
    for value, candidate in sorted(singles, key=lambda pair: -pair[0]):
        if kinds[candidate.operator] < MAX_OF_A_KIND and candidate.operator != "twin.all":
            kinds[candidate.operator] += 1
            best.append((value, candidate))
        if len(best) == MAX_NEAR:
            break
    for (one, first), (two, second) in itertools.combinations(best, 2):
        both = together(first, second, "pair.near")
        if both is not None:
            alike = ALIKE if first.operator == second.operator else 0.0
            yield one + two - suspect + NEAR + alike, both


def together(first: Candidate, second: Candidate, operator: str) -> Candidate | None:
    """Both candidates' edits as one; None where they are in each other's way."""
    edits = sorted((*first.edits, *second.edits), key=lambda edit: (edit.path, edit.start, edit.end))
    for one, two in itertools.pairwise(edits):
        if one.path == two.path and (two.start < one.end or (one.start, one.end) == (two.start, two.end)):
            return None
    prior = max(1e-9, first.prior * second.prior)
    note = f"{first.note}; {second.note}"
    return replace(
        first, edits=tuple(edits), operator=operator, line=second.line, prior=prior, note=note, key=""
    )


def seconds(base: Candidate, gain: float, singles: Iterable[Valued]) -> Iterator[Valued]:
    """The best `singles` on top of `base`."""
    ranked = sorted((s for s in singles if s[1].path == base.path), key=lambda pair: -pair[0])
    made = 0
    for value, candidate in ranked:
        both = together(base, candidate, "pair.then")
        if both is not None:
            yield value + gain, both
            made += 1
        if made == MAX_SECONDS:
            return


@dataclass
class Progress:
    """What the trials told so far: candidates that got the failing tests further, though not green. Thread-safe as
    far as one thread notes and takes."""

    baseline: Baseline
    _fresh: list[tuple[Candidate, float]] = field(default_factory=list)
    _sorts: Counter[object] = field(default_factory=Counter)

    def note(self, candidate: Candidate, verdict: Verdict) -> None:
        """Takes a trial's result in."""
        if candidate.operator.startswith("pair.") or sum(self._sorts.values()) >= MAX_BASES:
            return
        found = self._further(verdict)
        if found is not None:
            sort, gain = found
            if self._sorts[sort] < MAX_OF_A_SORT:
                self._sorts[sort] += 1
                self._fresh.append((candidate, gain))

    def take(self) -> list[tuple[Candidate, float]]:
        """Bases not taken yet: (candidate, log-weight of a second edit on top of it)."""
        fresh, self._fresh = self._fresh, []
        return fresh

    def _further(self, verdict: Verdict) -> tuple[object, float] | None:
        """In what way a verdict is better than the unedited tree's, None where it isn't."""
        if verdict.status is not Status.RED:
            return None
        before = {result.id: result for result in self.baseline.failing}
        healed = frozenset(r.id for r in verdict.results if r.id in before and r.outcome is Outcome.PASSED)
        if healed:
            return healed, HEALED
        first = next((r for r in verdict.results if r.outcome.bad and r.id in before), None)
        if first is None:
            return None
        then, now = _crash(before[first.id].message), _crash(first.message)
        if (
            then
            and not now
            and first.outcome is Outcome.FAILED
            and before[first.id].outcome is not Outcome.TIMEOUT
        ):
            return "no crash", OTHERWISE
        return None


def _crash(message: str) -> frozenset[str]:
    """Exceptions that ended a test, a failed assertion left out."""
    lines = (line for line in message.splitlines() if _LAST_WORDS.match(line))
    return frozenset(name for line in lines for name in _RAISED.findall(line)) - _EXPECTED
