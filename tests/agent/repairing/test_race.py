"""Models at a repair whose answers a script has: what they lay down, hear, use, and how they end."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from deskagent.agent.converse.rules import Rules
from deskagent.agent.converse.talk import Limits, Meter
from deskagent.agent.recorder import Recorder
from deskagent.agent.repairing.entrant import OVER, Entrant
from deskagent.agent.repairing.narrow import read
from deskagent.agent.repairing.patching import Allowed
from deskagent.agent.repairing.problem import Problem
from deskagent.agent.repairing.table import Table
from deskagent.agent.sources import Sources
from deskagent.messages import Text
from deskagent.providers.base import (
    Ask,
    CallDelta,
    Capabilities,
    Delta,
    ProviderError,
    Stop,
    Stopped,
    TextDelta,
    Trouble,
    Usage,
)
from deskagent.repair.command import resolve
from deskagent.repair.types import Baseline, Outcome, Status, Suspect, TestResult, Verdict
from deskagent.session import events
from deskagent.terminal.sandbox import find_sandbox
from deskagent.terminal.types import Rung
from deskagent.tools.bench import Look

Line = list[Delta] | Exception


@dataclass
class Scripted:
    """Says its answers in their order, the last one for ever."""

    answers: list[Line]
    capabilities: Capabilities
    asked: list[Ask] = field(default_factory=list)
    name: str = "stand/in"

    async def stream(self, ask: Ask) -> AsyncGenerator[Delta, None]:
        self.asked.append(ask)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        for delta in answer:
            await asyncio.sleep(0)
            yield delta

    async def close(self) -> None:
        return None


def says(text: str) -> list[Delta]:
    return [TextDelta(0, text), Usage(prompt=10, output=5), Stopped(Stop.END)]


def calls(name: str, arguments: str) -> list[Delta]:
    return [CallDelta(0, "c", name, arguments), Usage(prompt=10, output=5), Stopped(Stop.CALLS)]


@pytest.fixture
def enter(project: Path, recorder: Recorder):
    """Has a model work on `app.py`, whose tests want `return 1`; gives it, what it was asked and the table."""
    (project / "app.py").write_text("def one():\n    return 2\n")
    sources = Sources(project)
    command = resolve("python -m pytest -q", project, dict(os.environ))
    failing = TestResult("test_app.py::test_one", Outcome.FAILED, 0.0, "assert 2 == 1")
    look = Look(command, Baseline((failing,), {}, 0.1, "pytest"), (Suspect("app.py", 2, 1.0),), sources.read)
    problem = Problem(project, project, "one is wrong", look, sources, find_sandbox(), Allowed())

    def start(*answers: Line, tools: bool = True, turns: int = 12) -> tuple[Entrant, Scripted, Table]:
        provider = Scripted(list(answers), Capabilities(context=100_000, tools=tools))
        entrant, table = Entrant("stand/in", None, provider, False), Table()
        entrant.begin(
            recorder,
            problem,
            table,
            effort="auto",
            rules=Rules(),
            limits=Limits(turns),
            meter=Meter(),
            together=[],
        )
        until(lambda: judge(sources, table) or not table.working)
        return entrant, provider, table

    return start


def judge(sources: Sources, table: Table) -> bool:
    """Says of what lies on the table whether it returns 1; never that it is all."""
    while (candidate := table.take()) is not None:
        good = b"return 1" in sources.render(candidate)["app.py"]
        verdict: Future[Verdict] = Future()
        verdict.set_result(Verdict(Status.GREEN if good else Status.RED))
        table.again(candidate, verdict)
    table.wait(0.05)
    return False


def until(done: Callable[[], bool]) -> None:
    for _ in range(2000):
        if done():
            return
    raise AssertionError("it goes on and on")


def end(entrant: Entrant) -> None:
    entrant.cancel()
    entrant.join()


def write(number: int) -> list[Delta]:
    return calls("write", f'{{"path": "app.py", "content": "def one():\\n    return {number}\\n"}}')


READ = calls("read", '{"path": "app.py"}')


def test_a_patch_is_judged_though_the_model_never_asked_and_a_wrong_one_is_told(enter, project: Path) -> None:
    entrant, provider, _ = enter(READ, write(3), says("Done."), write(1), says("Now."))
    assert entrant.why == "" and len(entrant.laid) == 2
    said = [t for ask in provider.asked for turn in ask.turns for t in turn.parts if isinstance(t, Text)]
    assert any("don't accept" in text.text for text in said)
    assert (project / "app.py").read_text() == "def one():\n    return 2\n"
    end(entrant)


@pytest.mark.skipif(find_sandbox().rung is Rung.NONE, reason="runs a line in the sandbox")
def test_a_patch_that_edits_can_not_say_is_told(enter) -> None:
    def printed(end: str) -> list[Delta]:
        line = f"printf 'def one():{end}    return 1{end}' > app.py"
        return calls("terminal", json.dumps({"command": line}))

    entrant, provider, _ = enter(printed(r"\r\n"), says("Done."), printed(r"\n"), says("Now."))
    assert "line ends" in str(provider.asked[2].turns)
    assert entrant.why == "" and len(entrant.laid) == 1
    end(entrant)


def test_refuted_it_goes_on(enter) -> None:
    entrant, provider, table = enter(READ, write(1), says("Done."), says("I see nothing else."))
    entrant.refuted("The exact command fails.")
    until(lambda: len(provider.asked) > 3 or table.wait(0.05) is not None)
    assert "The exact command fails." in str(provider.asked[3].turns)
    end(entrant)


@pytest.mark.parametrize("tools", [True, False])
@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (ProviderError(Trouble.NETWORK, "nobody there"), "nobody there"),
        (ProviderError(Trouble.AUTH, "no key"), "no key"),
        (RuntimeError("a fault"), "a fault"),
        (says(""), ""),
        (says("I can't."), ""),
        (calls("nosuch", "{"), ""),
    ],
)
def test_whatever_a_model_does_it_ends_with_a_reason(enter, tools: bool, answer: Line, why: str) -> None:
    entrant, _, table = enter(answer, tools=tools)
    assert not table.working and entrant.why and why in entrant.why and not entrant.laid
    end(entrant)
    told = entrant.as_dict(set(), "")
    assert told["began"] and not told["passes"] and not told["chosen"]


def test_a_limit_of_turns_holds_for_questions_and_calls(enter) -> None:
    for tools in (True, False):
        entrant, provider, _ = enter(READ, says('{"first": 2, "last": 2, "lines": []}'), tools=tools, turns=2)
        assert len(provider.asked) == 2 and "limit of turns" in entrant.why
        end(entrant)


def test_told_to_end_it_ends(enter) -> None:
    entrant, _, _ = enter(READ, write(1), says("Done."))
    end(entrant)
    assert entrant.why in ("", OVER)


def test_a_model_without_tools_writes_lines(enter, recorder: Recorder) -> None:
    entrant, provider, _ = enter(
        says('{"edit": 0}'), says('Well: {"first": 2, "last": 2, "lines": ["    return 1"]}'), tools=False
    )
    assert entrant.why == "" and entrant.laid and not provider.asked[0].tools
    end(entrant)
    inner = [r.event.event for r in recorder.journal.read() if isinstance(r.event, events.Within)]
    assert {type(event).__name__ for event in inner} >= {"ModelAsked", "PartCame", "ModelAnswered"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1}', {"a": 1}),
        ('```json\n{"a": {"b": [1]}}\n``` so', {"a": {"b": [1]}}),
        ("{not json} {", None),
        ("", None),
        ("[1, 2]", None),
        ("{" * 5000, None),
    ],
)
def test_an_object_is_found_in_whatever_is_written(text: str, found: object) -> None:
    assert read(text) == found
