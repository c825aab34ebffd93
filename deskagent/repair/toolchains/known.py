"""The tool chain of a test command, what its programs need to write, and which lines its tests run."""

from __future__ import annotations

import hashlib
import itertools
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from deskagent import paths
from deskagent.repair.command import TestCommand
from deskagent.repair.toolchains import golang, node
from deskagent.repair.toolchains.base import Toolchain
from deskagent.repair.types import Coverage, Outcome, TestResult
from deskagent.terminal import temporary

_UNDERSTAND: Sequence[Callable[[TestCommand, Path], Toolchain | None]] = (node.understand, golang.understand)
_TRACED_FAILING, _TRACED_PASSING = 6, 16
_SHARE = 0.15
"""Part of the time there is that may go into finding out which lines tests run."""


def understand(command: TestCommand, project: Path) -> Toolchain | None:
    """What can be done with a command beyond running it, None where that is nothing."""
    if command.runner != "command":
        return None
    return next((found for look in _UNDERSTAND if (found := look(command, project)) is not None), None)


def limits_tests(command: TestCommand, project: Path) -> bool:
    """Whether the tests can be run with a time limit for each, so that a run that falls silent may be cut off and
    looked at in that way."""
    return command.runner != "command" or understand(command, project) is not None


@dataclass(frozen=True)
class Needs:
    """Variables and writable folders that a tool chain's programs need in a sandbox."""

    env: Mapping[str, str]
    writable: tuple[Path, ...] = ()


def needs(command: TestCommand, project: Path, *, proof: bool) -> Needs:
    """A folder for compiled packages, kept from run to run; one of its own for the `proof` by the exact command,
    so that no result found on the way is taken for it."""
    name = Path(command.argv[0]).name
    if name == "go" or (name in ("make", "sh", "bash") and (project / command.cwd / "go.mod").is_file()):
        digest = hashlib.sha256(os.fsencode(project)).hexdigest()[:16]
        cache = paths.private_dir(paths.cache_dir() / "go" / digest / ("proof" if proof else "tries"))
        flags = f"{command.env.get('GOFLAGS', os.environ.get('GOFLAGS', ''))} -count=1".strip()
        return Needs({"GOCACHE": str(cache), "GOFLAGS": flags}, (cache,))
    if name in ("npm", "npx", "pnpm", "yarn"):
        return Needs({"npm_config_update_notifier": "false", "npm_config_cache": "/tmp/npm-cache"})
    return Needs({})


def coverage(
    tool: Toolchain,
    results: Sequence[TestResult],
    run: Callable[[TestCommand, Path], tuple[Path, Path] | None],
    seconds: float,
) -> Coverage:
    """Which lines the failing tests run, and some of the passing ones, one run each, within a share of `seconds`.

    `run` runs a command that may write into the folder; (where it saw the project, where that can be read), or None.
    """
    failing = [r for r in results if r.outcome.bad][:_TRACED_FAILING]
    passing = [r for r in results if r.outcome is Outcome.PASSED]
    passing.sort(key=lambda r: -max((_alike(r.id, f.id) for f in failing), default=0.0))
    end = time.monotonic() + _SHARE * seconds
    found: dict[str, Mapping[str, frozenset[int]]] = {}
    for test in (*failing, *passing[:_TRACED_PASSING]):
        if time.monotonic() > end:
            break
        folder = temporary.make("lines")
        try:
            command = tool.traced(test, folder)
            places = run(command, folder) if command is not None else None
            lines = tool.lines(folder, *places) if places is not None else {}
        finally:
            temporary.drop(folder)
        if lines:
            found[test.id] = lines
    return found


def _alike(one: str, other: str) -> float:
    """How many characters two ids begin with in common."""
    pairs = zip(one, other, strict=False)
    return float(sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs)))
