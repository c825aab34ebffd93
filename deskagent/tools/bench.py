"""What the repair tools work at: the failing tests, the suspects, and tests that say what an edit is worth."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from deskagent.repair.source import SourceFile
from deskagent.repair.types import Baseline, Candidate, Outcome, Suspect, TestResult, Verdict
from deskagent.tools.base import Context, Effect, ToolError, Wish

if TYPE_CHECKING:  # what runs tests is imported when some are run
    from deskagent.repair.cold import ColdRun
    from deskagent.repair.command import TestCommand

_GLANCE = 0.2
_LONGEST = 1500
"""Characters of a failing test's message that are shown: its end says the most."""


@dataclass(frozen=True)
class Look:
    """What the tests do without any edit, and where the fault may be. read: a file as it was then. words: what is
    wrong, in the person's."""

    command: TestCommand
    baseline: Baseline
    suspects: tuple[Suspect, ...]
    read: Callable[[str], SourceFile]
    words: str = ""


@dataclass(frozen=True)
class Patch:
    """What was changed since the look: path → contents. notes: what of it doesn't count, and why."""

    files: Mapping[str, bytes]
    notes: tuple[str, ...] = ()


class Bench(Protocol):
    """Methods may take as long as tests do; they raise ToolError, and DeskagentErrors."""

    def command(self, test: str, context: Context) -> TestCommand:
        """The exact command: the one named, else the usual one."""
        ...

    def look(self, test: str, words: str, context: Context, *, anew: bool = False) -> Look:
        """The latest look at the tests. anew: another one where files have changed since."""
        ...

    def patch(self, context: Context) -> Patch: ...

    def judge(self, files: Mapping[str, bytes], note: str, context: Context) -> Verdict:
        """What the tests say of files put into the tree of the look, in a warm worker."""
        ...

    def tried(self, candidate: Candidate, context: Context) -> Verdict:
        """The same of a typed edit."""
        ...

    def exact(self, test: str, context: Context) -> ColdRun:
        """The exact command on a fresh copy of the tree as it is now."""
        ...


def wish(bench: Bench, test: str, context: Context) -> Wish:
    """To run the tests. One approval holds for all tools that run the same command."""
    command = bench.command(test, context)
    where = context.folder / command.cwd
    return Wish(
        Effect.RUN,
        f"{command.line}\n  in {where}, on copies, as often as edits are tried",
        f"tests:{where}:{command.line}",
    )


def awaited(verdict: Future[Verdict], cancel: threading.Event) -> Verdict:
    """Errors: ToolError where the call is cancelled, or the tests are closed."""
    from deskagent.repair.slot import Closed

    while not cancel.is_set():
        try:
            return verdict.result(_GLANCE)
        except NotYet:
            continue
        except (Closed, CancelledError):
            raise ToolError("The search is over: nothing more is tried.") from None
    raise ToolError("Cancelled.")


def failures(results: tuple[TestResult, ...], most: int = 3) -> list[str]:
    """Those of the results that are bad, in lines for a model."""
    bad = [result for result in results if result.outcome.bad]
    lines = [
        f"{result.id or 'the command'}: {_WORDS.get(result.outcome, result.outcome)}\n{result.message[-_LONGEST:]}"
        for result in bad[:most]
    ]
    if len(bad) > most:
        lines.append(f"(and {len(bad) - most} more: {', '.join(r.id for r in bad[most : most + 20])})")
    return lines


_WORDS = {Outcome.TIMEOUT: "runs for ever"}
