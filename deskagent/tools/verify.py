"""Has the tests judge what was changed: fast in a warm worker, or by the exact command on a fresh copy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from deskagent.messages import Outcome, Result
from deskagent.repair.types import Status, Verdict
from deskagent.terminal.types import End
from deskagent.tools import bench as benches
from deskagent.tools.base import Arguments, Context, Tool, Wish
from deskagent.tools.bench import Bench, failures
from deskagent.tools.plain import plain, shortened

if TYPE_CHECKING:
    from deskagent.repair.cold import ColdRun


class VerifyArguments(Arguments):
    cold: bool = Field(
        False,
        description="the exact command on a fresh copy, which is what proves a repair; else a warm worker, faster",
    )
    note: str = Field("", description="what the change does, in a few words")
    test: str = Field("", description="the command that fails; default: the usual one")


class Verify(Tool[VerifyArguments]):
    name = "verify"
    prompt = (
        "Has the tests judge the files as they are now: those that failed have to pass, and those that passed too. "
        "Call it after each change that could be the repair. It tells what still fails."
    )
    arguments = VerifyArguments

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    def wish(self, arguments: VerifyArguments, context: Context) -> Wish:
        return benches.wish(self._bench, arguments.test, context)

    def run(self, arguments: VerifyArguments, context: Context) -> Result:
        if arguments.cold:
            notes = self._bench.patch(context).notes
            return _of([*notes, *of_run(self._bench.exact(arguments.test, context))])
        self._bench.look(arguments.test, "", context)
        patch = self._bench.patch(context)
        if not patch.files:
            return _of([*patch.notes, "Nothing was changed: the tests fail as before."], Outcome.FAILED)
        verdict = self._bench.judge(patch.files, arguments.note, context)
        return _of([*patch.notes, *of_verdict(verdict)])


def _of(lines: list[str], outcome: Outcome = Outcome.DONE) -> Result:
    return Result.of("\n".join(lines), outcome)


def of_verdict(verdict: Verdict) -> list[str]:
    """A warm worker's word, for a model."""
    if verdict.status is Status.GREEN:
        left = f" Failing as before, and not asked for: {', '.join(verdict.left)}." if verdict.left else ""
        return [f"Passes: what failed passes now, and nothing else fails ({verdict.seconds:.1f} s).{left}"]
    return [_ENDS[verdict.status], *failures(verdict.results), *([verdict.detail] if verdict.detail else [])]


_ENDS = {
    Status.RED: "Fails.",
    Status.BROKEN: "The code can't be imported, or no test was found, with this change.",
    Status.TIMEOUT: "It takes too long with this change: a test that doesn't end?",
    Status.CRASHED: "Python itself crashed, or ran out of memory, with this change.",
}


def of_run(run: ColdRun) -> list[str]:
    """The exact command's word, for a model."""
    if run.green:
        return [f"The exact command passes on a fresh copy ({run.result.seconds:.1f} s)."]
    ended = f"exit {run.result.code}" if run.result.end is End.EXITED else str(run.result.end)
    shown = shortened(plain(run.result.text).strip("\n"))
    return [f"The exact command fails on a fresh copy ({ended}, {run.result.seconds:.1f} s).", shown]
