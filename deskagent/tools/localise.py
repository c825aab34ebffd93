"""Says where the fault behind a failing test likely is: suspicious lines, each with its reasons."""

from __future__ import annotations

from pydantic import Field

from deskagent.messages import Result
from deskagent.repair.source import SourceError
from deskagent.tools import bench as benches
from deskagent.tools.base import Arguments, Context, Tool, Wish
from deskagent.tools.bench import Bench, Look


class LocaliseArguments(Arguments):
    test: str = Field("", description="the command that fails, such as `pytest -q`; default: the usual one")
    words: str = Field("", description="what is wrong, in words; what they name is suspected first")
    most: int = Field(12, ge=1, le=50, description="how many lines")


class Localise(Tool[LocaliseArguments]):
    name = "localise"
    prompt = (
        "Runs the failing tests with coverage and ranks the lines where the fault likely is, each with reasons: run by "
        "failing tests alone, in the traceback, named in the failure, changed lately. Use it first when a test fails."
    )
    arguments = LocaliseArguments

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    def wish(self, arguments: LocaliseArguments, context: Context) -> Wish:
        return benches.wish(self._bench, arguments.test, context)

    def run(self, arguments: LocaliseArguments, context: Context) -> Result:
        look = self._bench.look(arguments.test, arguments.words, context, anew=True)
        return Result.of(told(look, arguments.most))


def told(look: Look, most: int) -> str:
    """A look in words for a model: what fails, and the suspects."""
    suspects = [
        f"{s.path}:{s.line}  {s.score:.2f}  {_line(look, s.path, s.line)}  ({'; '.join(s.reasons)})"
        for s in look.suspects[:most]
    ]
    left = len(look.suspects) - len(suspects)
    return "\n".join(
        [
            f"Test command: {look.command.line}",
            "Failing:",
            *benches.failures(look.baseline.results),
            "Suspects, the likeliest first (score from 0 to 1):",
            *(suspects or ["none: no line of the project stands out"]),
            *([f"({left} more)"] if left > 0 else []),
        ]
    )


def _line(look: Look, path: str, line: int) -> str:
    try:
        return f"`{look.read(path).text.splitlines()[line - 1].strip()[:120]}`"
    except (SourceError, IndexError):
        return ""
