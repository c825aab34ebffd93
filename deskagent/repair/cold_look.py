"""The first look at the unedited tree where no warm worker runs the tests: by the exact command, and by what its tool
chain can tell of single tests."""

from __future__ import annotations

import time
from pathlib import Path

from deskagent.repair.cold import ColdRun
from deskagent.repair.command import TestCommand
from deskagent.repair.slot import Slot
from deskagent.repair.toolchains import known as toolchains
from deskagent.repair.toolchains.base import Toolchain
from deskagent.repair.types import Baseline, Outcome, TestResult
from deskagent.terminal.types import End, Limits

_HANGING, _LONG = 5.0, 20.0  # seconds for a test of a suite that may hang, at least and at most


class ColdLook:
    """One look, until the monotonic time `until`. `cold` is a run of the exact command just before, None where there
    is none that ended by itself. `tool` is, after `baseline`, what can run the tests by name, with the time limits that
    were found; None where it can't."""

    def __init__(self, tool: Toolchain | None, cold: ColdRun | None, until: float) -> None:
        self.tool = tool
        self._cold = cold
        self._until = until

    def baseline(self, slot: Slot) -> Baseline:
        """What the tests do before any edit."""
        if self._cold is None and self.tool is not None:
            limited = self._limited(slot, self.tool)
            if limited is not None:
                return limited
        run = self._cold or slot.cold(self._limits())
        results = run.printed.results
        if not run.green and not run.printed.failing:
            outcome = Outcome.TIMEOUT if run.result.end is End.TIMEOUT else Outcome.FAILED
            results = (*results, TestResult("", outcome, run.result.seconds, run.result.text[-16000:]))
        found = Baseline(results, {}, run.result.seconds, "command")
        return found if self.tool is None else self._named(slot, self.tool, found)

    def _limited(self, slot: Slot, patient: Toolchain) -> Baseline | None:
        """What the tests do with so much time for each, where the exact command hasn't told or may hang; None where
        nothing fails then."""
        left = self._until - time.monotonic()
        run = slot.cold(self._limits(), patient.within(min(_LONG, max(_HANGING, left / 2))).named)
        if not run.printed.failing:
            return None
        longest = max((r.seconds for r in run.printed.results if r.outcome is Outcome.PASSED), default=0.0)
        if any(r.outcome is Outcome.TIMEOUT for r in run.printed.failing):
            self.tool = patient.within(max(_HANGING, 3 * longest))
        return self._with_lines(slot, self.tool or patient, run)

    def _named(self, slot: Slot, tool: Toolchain, exact: Baseline) -> Baseline:
        """The same with every test by its name and the lines that some of them run, as the tool chain tells them."""
        run = slot.cold(self._limits(), tool.named)
        if bool(run.printed.failing) != bool(exact.failing) or not run.printed.results:
            self.tool = None
            return exact
        return self._with_lines(slot, tool, run)

    def _with_lines(self, slot: Slot, tool: Toolchain, run: ColdRun) -> Baseline:
        """A run's results with the lines that some of the tests run."""

        def traced(command: TestCommand, folder: Path) -> tuple[Path, Path]:
            slot.cold(Limits(seconds=20.0), command, writable=(folder,))
            return slot.scratch.seen_at, slot.scratch.root

        left = max(0.0, self._until - time.monotonic())
        lines = toolchains.coverage(tool, run.printed.results, traced, left)
        return Baseline(run.printed.results, lines, run.result.seconds, "command")

    def _limits(self) -> Limits:
        return Limits(seconds=max(0.1, self._until - time.monotonic()))
