"""The nouns of a repair: tests and their results, suspicious places, edits, candidates, verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Outcome(StrEnum):
    """How one test ended."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"  # set-up, tear-down, import or collection broke
    SKIPPED = "skipped"  # also expected failures
    TIMEOUT = "timeout"

    @property
    def bad(self) -> bool:
        return self in (Outcome.FAILED, Outcome.ERROR, Outcome.TIMEOUT)


@dataclass(frozen=True)
class Frame:
    """One line of a traceback: project-relative POSIX path (or absolute outside), 1-based line, function name."""

    path: str
    line: int
    function: str


@dataclass(frozen=True)
class TestResult:
    """One test's result. `message` is the failure as the runner prints it; `frames` run outermost first."""

    __test__ = False
    id: str
    outcome: Outcome
    seconds: float = 0.0
    message: str = ""
    frames: tuple[Frame, ...] = ()


Coverage = Mapping[str, Mapping[str, frozenset[int]]]
"""Test id → project-relative path → 1-based lines executed."""


@dataclass(frozen=True)
class Baseline:
    """What the tests do before any edit. `coverage` may lack tests that ran out of time."""

    results: tuple[TestResult, ...]
    coverage: Coverage
    seconds: float
    runner: str = "command"  # "pytest", "unittest", or "command" where only the exit code speaks

    @property
    def failing(self) -> tuple[TestResult, ...]:
        return tuple(r for r in self.results if r.outcome.bad)

    @property
    def passing(self) -> tuple[TestResult, ...]:
        return tuple(r for r in self.results if r.outcome is Outcome.PASSED)


@dataclass(frozen=True)
class Suspect:
    """A suspicious line: `score` in (0, 1], the reasons in words a person can read."""

    path: str
    line: int
    score: float
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Edit:
    """Replaces bytes [start, end) of a source file's UTF-8 text by `new` (see source.SourceFile)."""

    path: str
    start: int
    end: int
    new: str


@dataclass(frozen=True)
class Candidate:
    """One possible repair. `operator` is dotted (`compare.boundary`), `prior` in (0, 1] says how often such an
    edit is the right one, `note` is for people (`<` → `<=`), `key` is equal for equal resulting code."""

    edits: tuple[Edit, ...]
    operator: str
    path: str
    line: int
    prior: float
    note: str
    key: str


class Status(StrEnum):
    """How a candidate's tests ended."""

    GREEN = "green"  # every test that failed before passes, none that passed fails
    RED = "red"  # tests ran and some failed
    BROKEN = "broken"  # the code doesn't import or nothing could be collected
    TIMEOUT = "timeout"
    CRASHED = "crashed"  # the interpreter died


@dataclass(frozen=True)
class Verdict:
    """What happened to a candidate: the first bad result decides, so `results` may be partial unless GREEN. `left` are
    tests that failed before, aren't asked for, and still fail."""

    status: Status
    results: tuple[TestResult, ...] = ()
    seconds: float = 0.0
    stage: str = ""  # "failing", "affected" or "all": the last stage that ran
    detail: str = field(default="", compare=False)
    left: tuple[str, ...] = ()
