"""Runs the exact test command as the person would, on a fresh copy: the result that counts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from deskagent.repair.command import TestCommand
from deskagent.repair.judge import judge
from deskagent.repair.protocol import Report
from deskagent.repair.report import Printed, parse
from deskagent.repair.toolchains.known import needs
from deskagent.repair.types import Outcome, Status, Verdict
from deskagent.repo.scratch import Scratch, make_scratch
from deskagent.terminal import spawn
from deskagent.terminal.environment import base_env
from deskagent.terminal.sandbox import Sandbox
from deskagent.terminal.types import Command, End, Limits, Result


@dataclass(frozen=True)
class ColdRun:
    """How the exact command ended, and what it printed of its tests (from its head and tail alone if it printed
    more than these)."""

    result: Result
    printed: Printed

    @property
    def green(self) -> bool:
        """The command ended by itself and said that all is well."""
        return self.result.end is End.EXITED and self.result.code == 0


def run_cold(
    project: Path,
    command: TestCommand,
    *,
    sandbox: Sandbox,
    files: Mapping[str, bytes] | None = None,
    limits: Limits = Limits(),
    output_path: Path | None = None,
    on_output: Callable[[bytes], None] | None = None,
    cancel: threading.Event | None = None,
) -> ColdRun:
    """Runs `command` on a fresh copy of `project` with `files` (project-relative path → bytes) put in.

    What can't start is a result too (see `spawn.run`). Raises UsageError for an unfit project, TransientError
    where the disk is full.
    """
    with copy_for(project, command, sandbox) as scratch:
        scratch.write(files or {})
        return run_in(
            scratch, command, sandbox=sandbox, limits=limits, output_path=output_path, on_output=on_output,
            cancel=cancel, proof=True,
        )  # fmt: skip


def copy_for(project: Path, command: TestCommand, sandbox: Sandbox) -> Scratch:
    """A copy of `project` that the interpreter and the PYTHONPATH of `command` lead to."""
    return make_scratch(
        project, sandbox, interpreter=command.interpreter, pythonpath=command.env.get("PYTHONPATH")
    )


def run_in(
    scratch: Scratch,
    command: TestCommand,
    *,
    sandbox: Sandbox,
    limits: Limits,
    output_path: Path | None = None,
    on_output: Callable[[bytes], None] | None = None,
    cancel: threading.Event | None = None,
    proof: bool = False,
    writable: tuple[Path, ...] = (),
) -> ColdRun:
    """Runs `command` in a scratch copy as it is; it may write into the folders `writable` too. For a `proof` nothing
    is used that an earlier run of the search has left."""
    own = needs(command, scratch.project, proof=proof)
    command = replace(command, env={**own.env, **command.env})
    result = spawn.run(
        started(command.argv, command, scratch),
        sandbox=sandbox,
        policy=replace(scratch.policy, writable=(*scratch.policy.writable, *own.writable, *writable)),
        limits=limits,
        output_path=output_path,
        on_output=on_output,
        cancel=cancel,
    )
    return ColdRun(result, parse(result.text, scratch.seen_at))


def verdict(run: ColdRun, seconds: float) -> Verdict:
    """What the exact command says of a candidate; `seconds` is what its verification took."""
    status = _ENDS.get(run.result.end, Status.GREEN if run.green else Status.RED)
    if status is Status.RED and run.result.code > 128:
        status = Status.CRASHED
    return Verdict(status, run.printed.results, seconds, "all", run.result.detail)


def judged(
    run: ColdRun,
    seconds: float,
    failing: Iterable[str],
    passing: Iterable[str],
    flaky: frozenset[str],
    stage: str,
) -> Verdict:
    """As `verdict`; where the run names the tests that pass, `failing` and `passing` must be among them."""
    found = replace(verdict(run, seconds), stage=stage)
    result, results = run.result, run.printed.results
    whole = result.total <= len(result.head) + len(result.tail)
    if found.status is not Status.GREEN or not whole or not any(r.outcome is Outcome.PASSED for r in results):
        return found
    told = judge(Report(results={r.id: r for r in results}, ended=True), failing, passing, flaky)
    return replace(found, status=told.status, detail=told.detail)


_ENDS = {End.TIMEOUT: Status.TIMEOUT, End.MEMORY: Status.CRASHED, End.SIGNALED: Status.CRASHED}


def started(argv: tuple[str, ...], command: TestCommand, scratch: Scratch) -> Command:
    """`argv` in the folder and with the variables of the test command."""
    env = base_env({**command.env, **scratch.env})
    return Command(scratch.relocated(argv), cwd=scratch.seen_at / command.cwd, env=env)
