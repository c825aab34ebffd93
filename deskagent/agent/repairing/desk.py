"""The repair tools of a model at a repair: it sees what the search found, and lays its patches on the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from deskagent.agent.repairing import patching
from deskagent.agent.repairing.copy import Copy
from deskagent.agent.repairing.problem import Problem
from deskagent.agent.repairing.table import Table
from deskagent.repair.command import TestCommand
from deskagent.repair.source import SourceError
from deskagent.repair.types import Candidate, Verdict
from deskagent.terminal.types import Limits
from deskagent.tools.base import Context, ToolError
from deskagent.tools.bench import Look, Patch, awaited

if TYPE_CHECKING:
    from deskagent.repair.cold import ColdRun

_EXACT = 1800.0
"""Seconds that the exact command may take."""


class Desk:
    """A `tools.bench.Bench`. laid: keys of the patches that the model made, in their order; typed edits that it had
    tried are the search's own."""

    def __init__(self, problem: Problem, copy: Copy, table: Table, operator: str, who: str) -> None:
        self._problem, self._copy, self._table = problem, copy, table
        self._operator, self._who = operator, who
        self.laid: list[str] = []

    def command(self, test: str, context: Context) -> TestCommand:
        command = self._problem.command
        if test and test != command.line:
            raise ToolError(f"Here `{command.line}` alone counts: leave `test` out.")
        return command

    def look(self, test: str, words: str, context: Context, *, anew: bool = False) -> Look:
        self.command(test, context)
        return self._problem.look

    def patch(self, context: Context) -> Patch:
        return self.changes()

    def changes(self) -> Patch:
        """What counts of the copy's changes."""
        return patching.counted(self._copy.changed, self._problem.sources, self._problem.allowed)

    def judge(self, files: Mapping[str, bytes], note: str, context: Context) -> Verdict:
        try:
            made = patching.candidate(files, self._problem.sources, self._operator, note or self._who)
        except SourceError as error:
            raise ToolError(f"{error.message}.") from error
        self.laid.append(made.key)
        return self.tried(made, context)

    def tried(self, candidate: Candidate, context: Context) -> Verdict:
        return awaited(self._table.lay(candidate), context.cancel)

    def exact(self, test: str, context: Context) -> ColdRun:
        from deskagent.repair.cold import run_cold

        return run_cold(
            self._problem.project,
            self.command(test, context),
            sandbox=self._problem.sandbox,
            files=self.changes().files,
            limits=Limits(seconds=_EXACT),
            cancel=context.cancel,
        )
