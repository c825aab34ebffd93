"""What a tool chain offers beyond its exact command: every test by name, some tests alone, which lines a test runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from deskagent.repair.command import TestCommand
from deskagent.repair.types import TestResult


class Toolchain(Protocol):
    """One test command, understood. Commands made here run in a scratch copy as the exact one does."""

    @property
    def named(self) -> TestCommand:
        """Runs what the exact command runs and prints every test's result by its name."""
        ...

    def within(self, seconds: float) -> Toolchain:
        """The same with so much time for a test, for suites that hang."""
        ...

    def only(self, tests: Sequence[TestResult]) -> TestCommand | None:
        """Runs these tests and, as far as can be, no others; None where that can't be told."""
        ...

    def traced(self, test: TestResult, to: Path) -> TestCommand | None:
        """Runs one test and writes the lines that run into the folder `to`, None where that can't be told."""
        ...

    def lines(self, written: Path, root: Path, copy: Path) -> Mapping[str, frozenset[int]]:
        """Project-relative path → 1-based lines, from what a traced run wrote. `root` is where the run saw the
        project, `copy` where its files can be read."""
        ...


def chunks(names: Sequence[str], most: int) -> Iterator[Sequence[str]]:
    """`names` in runs of at most `most`."""
    for start in range(0, len(names), most):
        yield names[start : start + most]
