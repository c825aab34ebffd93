"""Merges the candidates of all suspects, the most promising first, without making more than are asked for.

A suspect's edits are made when no candidate at hand could be better than the best it may have. The value of a
candidate is its suspect's score times its own; it falls with every sibling already handed out, so that one
place or one operator never holds the search up.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from deskagent.repair import pairs
from deskagent.repair.candidates import broken, priors, python
from deskagent.repair.candidates.base import Place, Proposal
from deskagent.repair.focus import asked_for
from deskagent.repair.hints import Hints, read_hints
from deskagent.repair.languages.code import CodeFile
from deskagent.repair.languages.known import tree_of
from deskagent.repair.languages.tree import Tree
from deskagent.repair.scope import Scopes
from deskagent.repair.scorer import PriorScorer, ScoreContext, Scorer, Seen, affinity
from deskagent.repair.source import SourceError, SourceFile
from deskagent.repair.syntax import Syntax, is_docstring
from deskagent.repair.tokens import TokenStream
from deskagent.repair.types import Baseline, Candidate, Edit, Suspect

SUSPICION = 1.5
"""Exponent of a suspect's score."""
PLACE_PATIENCE = 20.0
OPERATOR_PATIENCE = 12.0
"""After so many candidates from one place, or of one operator at one place, the next counts for half."""
HEADROOM = 1.0
"""Log-weight by which a suspect's best candidate may beat the best prior."""
BATCH = 64
"""So many candidates of a place are scored at a time: scoring all of some hundred places takes minutes."""
MAX_PROPOSALS = 6000
SLOW_SIZE = 1000
"""At one place; a statement of so many bytes gets half of them. Huge tables have more than anyone will try."""
MAX_NEW_TEXT = 1500
MAX_KEPT = 80
"""Of a place's edits, as many are remembered for a second edit."""
_FALLBACK_PRIOR = 0.1


class _PythonFile:
    """What `languages.code.CodeFile` is for other languages."""

    priors: Mapping[str, float] = priors.OPERATORS

    def __init__(self, syntax: Syntax) -> None:
        self.source = syntax.source
        self.syntax = syntax
        self.scopes = Scopes(syntax)
        self.stream = TokenStream(syntax.source)

    def places(self, line: int, hints: Hints, attributes: frozenset[str]) -> list[Place]:
        """The statement at a line, unless it is a docstring; all of a file that doesn't parse."""
        statement = self.syntax.root if self.syntax.slipped else self.syntax.by_line.get(line)
        if statement is None or is_docstring(statement):
            return []
        return [Place(self.syntax, self.scopes, statement, hints, attributes)]

    def propose(self, place: Place, line: int) -> Iterator[Proposal]:
        return broken.repairs(self.syntax, line) if self.syntax.slipped else python.propose(place)


_File = _PythonFile | CodeFile


@dataclass(frozen=True)
class Ranked:
    """A candidate as the merge hands it out. value: its log-weight, its suspect's score included, less what earlier
    ones of its place took. syntax: of the file that it edits."""

    value: float
    candidate: Candidate
    syntax: Syntax


_Row = tuple[float, float, Proposal]
"""What is known of a proposal without a look at the code, on a log scale: its prior, and what the failing tests'
errors say; its prior; and it."""


@dataclass(frozen=True)
class _Unscored:
    """Proposals of one place, from `first` on, the most promising first. `value` is their suspect's, `line` its
    line."""

    context: ScoreContext
    rows: Sequence[_Row]
    value: float
    line: int
    first: int = 0

    @property
    def bound(self) -> float:
        return self.value + self.rows[self.first][0] + HEADROOM

    def part(self) -> list[Candidate]:
        """The next BATCH as candidates, without a key yet."""
        path = self.context.source.path
        return [
            Candidate(
                tuple(Edit(path, start, end, new) for start, end, new in proposal.edits),
                proposal.operator, path, self.line, prior, proposal.note, "",
            )
            for _, prior, proposal in self.rows[self.first : self.first + BATCH]
        ]  # fmt: skip


@dataclass
class _Merge:
    """The heap and what was handed out."""

    read: Callable[[str], SourceFile]
    hints: Hints
    scorer: Scorer
    related: tuple[str, ...]
    files: dict[str, _File | None] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    given: Counter[tuple[str, int] | tuple[str, int, str]] = field(default_factory=Counter)

    def file(self, path: str) -> _File | None:
        if path not in self.files:
            try:
                source = self.read(path)
            except SourceError:  # localisation already said so; the other files go on
                self.files[path] = None
                return None
            tree = tree_of(source)
            opened = (
                CodeFile(tree) if isinstance(tree, Tree) else _PythonFile(tree) if tree is not None else None
            )
            self.files[path] = opened
        return self.files[path]

    def attributes(self) -> frozenset[str]:
        """Attribute names that the related files define or use."""
        found: set[str] = set()
        for path in self.related:
            file = self.file(path)
            for node in file.syntax.root.walk() if file is not None else ():
                if node.kind == "attribute" and (name := node.get("attribute")) is not None:
                    found.add(name.text)
        return frozenset(found)

    def discount(self, candidate: Candidate) -> float:
        place = self.given[candidate.path, candidate.line]
        operator = self.given[candidate.path, candidate.line, candidate.operator]
        return math.log1p(place / PLACE_PATIENCE) + math.log1p(operator / OPERATOR_PATIENCE)


def iter_candidates(
    project_files: Callable[[str], SourceFile],
    suspects: Sequence[Suspect],
    *,
    request: str = "",
    baseline: Baseline | None = None,
    scorer: Scorer | None = None,
    progress: pairs.Progress | None = None,
) -> Iterator[Candidate]:
    """As `iter_ranked`, the candidates alone."""
    stream = iter_ranked(
        project_files, suspects, request=request, baseline=baseline, scorer=scorer, progress=progress
    )
    return (ranked.candidate for ranked in stream)


def iter_ranked(
    project_files: Callable[[str], SourceFile],
    suspects: Sequence[Suspect],
    *,
    request: str = "",
    baseline: Baseline | None = None,
    scorer: Scorer | None = None,
    progress: pairs.Progress | None = None,
    over: Callable[[], bool] = lambda: False,
) -> Iterator[Ranked]:
    """Candidates for `suspects`, the best first, each resulting code once, all of them parsing.

    `project_files` reads a project-relative path. Files that can't be read give no candidates. What `progress` hears
    between two candidates makes for second edits, of which at most every second candidate is one: there are hundreds on
    top of one first edit, and what made a test pass by chance would crowd out all else. No more are made once it is
    `over`.
    """
    asked = asked_for(request, baseline) if baseline is not None else None
    hints = read_hints(request, asked, _texts(project_files))
    merge = _Merge(project_files, hints, scorer or PriorScorer(), _related(baseline))
    best = math.log(max(priors.OPERATORS.values())) + HEADROOM
    order = itertools.count()
    # (−value, order, suspect to open, its candidates to score or one of them, its value before discount)
    heap: list[tuple[float, int, Suspect | _Unscored | Candidate, float]] = []
    for suspect in suspects:
        value = SUSPICION * math.log(max(suspect.score, 1e-6))
        heap.append((-(value + best), next(order), suspect, value))
    heapq.heapify(heap)
    then: list[tuple[float, int, Suspect | _Unscored | Candidate, float]] = []  # as `heap`, of second edits
    alone = True  # the last candidate was no second edit
    opened: set[tuple[str, int]] = set()
    singles: list[pairs.Valued] = []
    attributes: frozenset[str] | None = None

    def push(valued: Iterable[pairs.Valued], onto: list[Any]) -> None:
        for own, candidate in valued:
            heapq.heappush(onto, (-(own - merge.discount(candidate)), next(order), candidate, own))

    while (heap or then) and not over():
        for base, gain in progress.take() if progress is not None else ():
            push(pairs.seconds(base, gain, singles), then)
        source = then if then and (not heap or (alone and then[0] < heap[0])) else heap
        negative, _, item, value = heapq.heappop(source)
        if isinstance(item, Suspect):
            file = merge.file(item.path)
            if file is None:
                continue
            if attributes is None:
                attributes = merge.attributes()
            for place in file.places(item.line, merge.hints, attributes):
                if (item.path, place.statement.start) in opened:
                    continue
                opened.add((item.path, place.statement.start))
                context = ScoreContext(file.source, cast(Seen, place), file.stream, merge.hints)
                if rows := _ranked(place, file, item.line, merge.hints):
                    rest = _Unscored(context, rows, value, item.line)
                    heapq.heappush(heap, (-rest.bound, next(order), rest, value))
            continue
        if isinstance(item, _Unscored):
            part = item.part()
            scores = merge.scorer.score(item.context, part)
            valued = [(value + score, one) for one, score in zip(part, scores, strict=True)]
            push(valued, heap)
            if not item.first:  # two edits of which neither is promising are not, either
                push(pairs.near(valued, value), heap)
            singles += heapq.nlargest(MAX_KEPT, valued, key=lambda pair: pair[0])
            if item.first + BATCH < len(item.rows):
                rest = replace(item, first=item.first + BATCH)
                heapq.heappush(heap, (-rest.bound, next(order), rest, value))
            continue
        now = value - merge.discount(item)
        if now < -negative - 1e-9 and source and now < -source[0][0]:
            heapq.heappush(source, (-now, next(order), item, value))
            continue
        file = merge.file(item.path)
        assert file is not None
        key = file.stream.key(item.edits)
        if not key or key in merge.seen:
            continue
        merge.seen.add(key)
        if not file.syntax.still_parses(item.edits):
            continue
        merge.given[item.path, item.line] += 1
        merge.given[item.path, item.line, item.operator] += 1
        alone = source is heap
        yield Ranked(now, replace(item, key=key), file.syntax)


def _texts(read: Callable[[str], SourceFile]) -> Callable[[str], str | None]:
    """As `read`, for files that may not be there."""

    def text(path: str) -> str | None:
        try:
            return read(path).text
        except (SourceError, OSError):
            return None

    return text


def _ranked(place: Any, file: _File, line: int, hints: Hints) -> list[_Row]:
    """The place's proposals, the most promising first. A kind of edit that has many ways here shares its prior among
    them, though not wholly: there is more than one chance that it is right."""
    best: dict[tuple[tuple[int, int, str], ...], tuple[float, Proposal]] = {}
    size = place.statement.end - place.statement.start
    limit = int(MAX_PROPOSALS / (1 + size / SLOW_SIZE))
    for proposal in itertools.islice(file.propose(place, line), limit):
        if sum([len(new) for _, _, new in proposal.edits]) > MAX_NEW_TEXT:
            continue
        plain = file.priors.get(proposal.operator, _FALLBACK_PRIOR) * proposal.weight
        known = best.get(proposal.edits)
        if known is None or plain > known[0]:
            best[proposal.edits] = plain, proposal
    shares: dict[str, float] = defaultdict(float)
    for _, proposal in best.values():
        shares[proposal.operator] += proposal.weight
    spread = {name: math.sqrt(max(1.0, share)) for name, share in shares.items()}
    told = {name: affinity(name, hints) for name in shares}
    rows = []
    for plain, proposal in best.values():
        prior = min(1.0, max(plain / spread[proposal.operator], 1e-9))
        rows.append((math.log(prior) + told[proposal.operator], prior, proposal))
    rows.sort(key=lambda row: -row[0])
    return rows


def _related(baseline: Baseline | None) -> tuple[str, ...]:
    """Files that the failing tests run, tests included: what the code under test is handed comes from there."""
    if baseline is None:
        return ()
    ids = [result.id for result in baseline.failing]
    paths = {path for test in ids[:50] for path in baseline.coverage.get(test, {})}
    return tuple(
        sorted(path for path in paths if path.endswith(".py") and not path.startswith(("/", "..")))[:50]
    )
