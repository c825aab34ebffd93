"""What models at a repair are given: the request, the failing tests, the suspects, what was tried, what counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deskagent.agent.permissions import Mode
from deskagent.agent.repairing.patching import Allowed
from deskagent.agent.sources import Sources
from deskagent.repair.command import TestCommand
from deskagent.repair.types import Baseline
from deskagent.session import events
from deskagent.terminal.sandbox import Sandbox
from deskagent.tools.bench import Look

if TYPE_CHECKING:
    from deskagent.agent.fix import Fix

_STAGES = ("all", "affected", "failing")
"""The last stage that a candidate's tests came to, the furthest first."""


@dataclass(frozen=True)
class Problem:
    """look: at the tests before any edit. tried: edits that failed, those that came furthest first. full: the person
    asked for no sandbox by name."""

    project: Path
    start: Path
    request: str
    look: Look
    sources: Sources
    sandbox: Sandbox
    allowed: Allowed
    tried: Sequence[events.Trial] = ()
    full: bool = False

    @classmethod
    def of(cls, fix: Fix) -> Problem:
        """Of a run whose tests were looked at."""
        request = fix.request
        assert fix.command is not None and fix.baseline is not None
        allowed = Allowed(request.files, test_files(fix.command, fix.baseline, request.project))
        look = Look(fix.command, fix.baseline, fix.suspects, fix.sources.read, request.text)
        return cls(
            request.project,
            request.start,
            request.text,
            look,
            fix.sources,
            fix.sandbox,
            allowed,
            furthest(fix.red),
            full=fix.gate.mode is Mode.FULL,
        )

    @property
    def command(self) -> TestCommand:
        return self.look.command


def furthest(red: Sequence[events.Trial]) -> list[events.Trial]:
    """Failed edits, those first with which most of the tests passed."""
    rank = {stage: number for number, stage in enumerate(_STAGES)}
    return sorted(red, key=lambda trial: rank.get(trial.stage, len(rank)))


def test_files(command: TestCommand, baseline: Baseline, project: Path) -> frozenset[str]:
    """Files of the project that hold tests or are the command itself, by the tests' names and the command's words."""
    found: set[str] = set()
    for result in baseline.results:
        path, _, _ = result.id.partition("::")
        parts = path.split(".")
        tries = [path, *("/".join(parts[:count]) + ".py" for count in range(len(parts), 0, -1))]
        found |= {name for name in tries if name and _is_file(project, name)}
    found |= {str(command.cwd / word) for word in command.argv if _is_file(project, str(command.cwd / word))}
    return frozenset(found)


def _is_file(project: Path, name: str) -> bool:
    try:
        return not name.startswith("/") and (project / name).is_file()
    except (OSError, ValueError):
        return False
