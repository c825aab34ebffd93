"""The exact test command, cold, on a fresh copy: the run that counts, with its intent and result on record."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deskagent.agent.recorder import Recorder
from deskagent.errors import UsageError
from deskagent.repair.beside import still
from deskagent.repair.cold import ColdRun, run_cold
from deskagent.repair.command import TestCommand
from deskagent.repair.types import TestResult
from deskagent.session import events
from deskagent.terminal import temporary
from deskagent.terminal.sandbox import Sandbox
from deskagent.terminal.types import End, Limits

STALL_SECONDS = 12.0
"""So long may pytest or unittest print nothing before a first run is taken for a hanging test."""

_STALL_SHARE, _STALL_LEAST, _STALL_SHORT = 0.25, 3.0, 0.6
"""Of the time that is left, where that is less; but so many seconds at least, or such a share of very little time: an
interpreter and its imports are silent too."""

_LONGEST = 1800.0
_NOTHING_RAN = {
    "pytest": {4: "pytest refused the command", 5: "pytest found no tests"},
    "unittest": {5: "unittest found no tests"},
}
_RAN_NONE = re.compile(r"^Ran 0 tests in ", re.MULTILINE)
"""unittest before Python 3.12 ends with exit code 0 where it found nothing."""
_SHELL_COULD_NOT = {126: "can't be executed", 127: "doesn't exist"}


@dataclass(frozen=True)
class ColdProof:
    """A cold run as evidence. `silent`: it was ended because it printed nothing for so many seconds. `left`: tests that
    failed before too and aren't asked for, and all that fails."""

    command: str
    run: ColdRun
    silent: float | None
    left: tuple[str, ...] = ()

    @property
    def stalled(self) -> bool:
        """A test seems to hang."""
        return self.silent is not None

    @property
    def green(self) -> bool:
        """The command says that all is well."""
        return self.run.green

    @property
    def holds(self) -> bool:
        """It shows that what is asked for is repaired."""
        return self.green or bool(self.left)

    @property
    def failing(self) -> tuple[TestResult, ...]:
        return self.run.printed.failing

    @property
    def seconds(self) -> float:
        return self.run.result.seconds

    @property
    def out_of_time(self) -> bool:
        """It ran until its time was up, so nothing is known."""
        return self.run.result.end is End.TIMEOUT

    @property
    def summary(self) -> str:
        """How it ended, in words."""
        result, printed = self.run.result, self.run.printed
        counts = []
        if printed.failed:
            counts.append(f"{printed.failed} failed")
        if printed.passed is not None:
            counts.append(f"{printed.passed} passed")
        if self.silent is not None:
            ended = f"ended after {self.silent:.0f} s without output"
        elif result.end is End.EXITED:
            ended = f"exit {result.code}"
        else:
            ended = f"{result.end} ({result.detail})" if result.detail else str(result.end)
        return ", ".join([ended, *counts, f"{result.seconds:.1f} s"])

    def as_dict(self) -> dict[str, Any]:
        return {
            "command": self.command,
            "exit_code": self.run.result.code,
            "end": str(self.run.result.end),
            "seconds": round(self.seconds, 3),
            "passed": self.run.printed.passed,
            "failed": self.run.printed.failed,
            "summary": self.summary,
        }


def bearable(seconds: float) -> float:
    """So many seconds of silence are borne where `seconds` are left."""
    return min(STALL_SECONDS, max(_STALL_SHARE * seconds, min(_STALL_LEAST, _STALL_SHORT * seconds)))


def observe_cold(
    recorder: Recorder,
    project: Path,
    command: TestCommand,
    files: Mapping[str, bytes],
    *,
    sandbox: Sandbox,
    purpose: str,
    seconds: float,
    stall: bool = False,
    patch: str = "",
    before: ColdProof | None = None,
    others: frozenset[str] = frozenset(),
) -> ColdProof:
    """Runs `command` on a copy of `project` with `files` put in, for at most `seconds`.

    `patch` is the key of the candidate that `files` are, `before` the run without it, `others` are the tests that
    may fail as they did then. With `stall`, ends it early when it falls silent. UsageError where no test could run
    at all.
    """
    intent = events.CommandIntent(
        id=recorder.new_id("command"),
        argv=command.argv,
        cwd=str(project / command.cwd),
        rung=str(sandbox.rung),
        purpose=purpose,
    )
    recorder.emit(intent)
    silent = bearable(seconds)
    with temporary.folder("output") as folder, Silence(silent if stall else None) as silence:
        output = folder / "output"
        run = run_cold(
            project,
            command,
            sandbox=sandbox,
            files=files,
            limits=Limits(seconds=min(seconds, _LONGEST)),
            output_path=output,
            on_output=silence.heard,
            cancel=silence.too_long,
        )
        result = run.result
        whole = ""
        if result.total > len(result.head) + len(result.tail) and output.exists():
            whole = recorder.journal.blobs.put(output.read_bytes())
    recorder.emit(
        events.CommandResult(
            id=intent.id,
            end=str(result.end),
            code=result.code,
            seconds=result.seconds,
            total=result.total,
            head=result.head.decode("utf-8", "replace"),
            tail=result.tail.decode("utf-8", "replace"),
            output=whole,
        )
    )
    left = still(before.run, run, others) if before else ()
    proof = ColdProof(command.line, run, silent if silence.too_long.is_set() else None, left)
    recorder.emit(
        events.TestsObserved(
            runner=command.runner,
            command=command.line,
            failing=run.printed.failed or len(proof.failing),
            passing=run.printed.passed or 0,
            failures=tuple(
                events.TestFailure(id=t.id, outcome=str(t.outcome), message=t.message[-4000:])
                for t in proof.failing[:100]
            ),
            seconds=result.seconds,
            stage=purpose,
            green=proof.green,
            patch=patch,
            left=left,
        )
    )
    return proof


def refuse_what_proves_nothing(proof: ColdProof, command: TestCommand) -> None:
    """UsageError where nothing can be learnt: not found, no sandbox, no tests, or an exit code that hides failures."""
    result, printed = proof.run.result, proof.run.printed
    last = "\n".join(result.text.strip().splitlines()[-12:])
    if result.end is End.NOT_FOUND:
        raise UsageError(
            f"The test command `{command.line}` can't be started: {result.detail}", hint=_NAME_ANOTHER
        )
    if result.end is End.SANDBOX:
        raise UsageError(
            f"The sandbox could not be set up: {result.detail}",
            hint="`deskagent doctor` says what this machine allows.",
        )
    if proof.green and printed.failed:
        raise UsageError(
            f"`{command.line}` ended with exit code 0 though it printed {printed.failed} failed, so nothing can be "
            "proved by it.",
            hint="A pipe or `|| true` hides the tests' own exit code: name the command without it.",
        )
    if proof.green and _RAN_NONE.search(result.text):
        raise UsageError(f"No test was found: `{command.line}`\n{last}", hint=_NAME_ANOTHER)
    if result.end is not End.EXITED or printed.results or printed.passed:
        return
    if command.argv[:2] == ("sh", "-c") and result.code in _SHELL_COULD_NOT:
        raise UsageError(
            f"A program in `{command.line}` {_SHELL_COULD_NOT[result.code]}:\n{last}", hint=_NAME_ANOTHER
        )
    nothing = _NOTHING_RAN.get(command.runner, {}).get(result.code)
    if nothing:
        raise UsageError(f"{nothing}: `{command.line}`\n{last}", hint=_NAME_ANOTHER)
    if f"No module named {command.runner}" in last:
        raise UsageError(f"`{command.line}` can't run: {last}", hint=_NAME_ANOTHER)


_NAME_ANOTHER = 'Name the command that shows the bug: --test "…".'


class Silence:
    """Sets `too_long` when nothing was heard for so many seconds; does nothing for None. A context manager."""

    def __init__(self, seconds: float | None) -> None:
        self.too_long = threading.Event()
        self._bearable = seconds
        self._done = threading.Event()
        self._last = time.monotonic()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def heard(self, data: bytes) -> None:
        self._last = time.monotonic()

    def __enter__(self) -> Silence:
        if self._bearable is not None:
            self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._done.set()
        if self._bearable is not None:
            self._thread.join()

    def _watch(self) -> None:
        assert self._bearable is not None
        while not self._done.wait(0.25):
            if time.monotonic() - self._last > self._bearable:
                self.too_long.set()
                return
