"""Opening a long session beside a short one: the ratio of their times.

    python bench/open_session.py [--events 50000] [--short 500] [--rounds 7] [--steps 400] [--cpu]

Both are written by the same means: steps of a conversation with thinking, calls, results of 2 kB, changed files, and
room made after every `steps` steps: with 400 the long one has some nine times as much before the model. Each round
opens the two in turn: `session` is the journal, its history and what is half done; `conversation` is all that
`deskagent run -r` does up to the first request (index, lock, sandbox, tools). `from all events` is the same without
what is kept beside them. Prints medians in milliseconds and the ratios, then a JSON object. cpu: processor time of this
process in place of the clock's, for a busy machine.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from deskagent.agent import opened
from deskagent.agent.converse.work import Options, at_work
from deskagent.agent.front import Question
from deskagent.agent.permissions import Mode
from deskagent.agent.recorder import Recorder
from deskagent.messages import Call, Result, Text, Thinking
from deskagent.providers.base import Capabilities
from deskagent.session import events, kept, talk
from deskagent.session.history import History
from deskagent.session.journal import Journal

RESULT = "line of output, number {}: nothing to see here but that it is long\n"


class Silent:
    interactive = False

    def ask(self, question: Question) -> bool:
        return False

    def choose(self, question: Question, choices: tuple[str, ...]) -> str:
        return ""

    def show(self, event: object) -> None:
        pass


class Nobody:
    """A provider that is never asked."""

    name = "stand/in"
    capabilities = Capabilities(context=1_000_000)

    async def close(self) -> None:
        pass


def step(recorder: Recorder, number: int) -> None:
    """One answer with one call and its result."""
    emit, id = recorder.emit, f"answer-n{number}"
    emit(events.StepStarted(id=f"step-n{number}", step="plan", tier="high", state="plan"))
    emit(talk.ModelAsked(id=id, model="stand/in", tier="high", turns=number))
    emit(talk.PartCame(ask=id, part=Thinking("I think of what to do next. " * 10, "reasoning_content")))
    emit(talk.PartCame(ask=id, part=Call(f"call-{number}", "terminal", '{"line": "pytest -q tests"}')))
    emit(talk.ModelAnswered(ask=id, stop="calls", tokens={"prompt": 1000, "cached": 900, "output": 50}))
    emit(events.StateChanged("plan", "act", "calls"))
    emit(talk.CallBegun(id=f"call-{number}", effect="run", subject="pytest -q tests", permitted="auto"))
    if number % 4 == 0:
        files = (events.FileChange("src/some/module.py", "a" * 64, "b" * 64),)
        emit(events.ApplyIntent(id=f"apply-n{number}", files=files))
        emit(events.ApplyResult(id=f"apply-n{number}", ok=True))
    text = "".join(RESULT.format(n) for n in range(30))
    emit(talk.CallEnded(id=f"call-{number}", result=Result.of(text)))
    emit(events.StateChanged("act", "observe", "results"))


def write(project: Path, count: int, steps: int) -> str:
    """A session of `count` events, in which room is made after every `steps` steps; its id."""
    with Journal.create(project) as journal:
        history = kept.view(journal, History)
        front = Silent()
        front.show = lambda event: history.take(event) if isinstance(event, events.Event) else None  # type: ignore
        recorder = Recorder(journal, front)
        recorder.emit(events.Request(text="do all of it"))
        recorder.emit(talk.Spoken(id="turn-n0", parts=(Text("do all of it"),)))
        journal._lazy = True  # the disk's time is no part of this
        number = 0
        while journal.seq < count:
            number += 1
            step(recorder, number)
            if number % steps == 0:
                entries = history.sent
                last = entries[-steps // 5]
                recorder.emit(
                    talk.Compacted(
                        id=f"sum-{number}", first=entries[1].id, last=last.id, summary="Much. " * 400
                    )
                )
        return journal.id


def session(id: str, project: Path) -> None:
    with Journal.open(id) as journal:
        history = kept.view(journal, History)
        assert history.turns() and not opened.read(journal).unsettled


def conversation(id: str, project: Path) -> None:
    options = Options(start=project, argv=(), model=lambda name: (Nobody(), False), mode=Mode.ASK, session=id)  # type: ignore[arg-type,return-value]
    with at_work(options, Silent()) as talk:
        assert talk.history.turns()


@contextlib.contextmanager
def without(id: str) -> Iterator[None]:
    """What is kept of the session taken away, and its place in the index too."""
    home = Path(os.environ["DESKAGENT_HOME"])
    (home / "data" / "sessions" / id / kept.NAME).unlink(missing_ok=True)
    for path in home.rglob("sessions.db*"):
        path.unlink()
    yield


def timed(work: Callable[[str, Path], None], id: str, project: Path, clock: Callable[[], float]) -> float:
    began = clock()
    work(id, project)
    return clock() - began


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--events", type=int, default=50_000)
    parser.add_argument("--short", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--cpu", action="store_true")
    options = parser.parse_args()
    clock = time.process_time if options.cpu else time.perf_counter
    told: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="open-session") as made:
        os.environ["DESKAGENT_HOME"] = str(Path(made) / "home")
        project = Path(made) / "project"
        project.mkdir()
        short, long = (write(project, count, options.steps) for count in (options.short, options.events))
        for name, work, bare in (
            ("session", session, False),
            ("conversation", conversation, False),
            ("session, from all events", session, True),
        ):
            times: dict[str, list[float]] = {short: [], long: []}
            for id in (short, long):
                timed(work, id, project, clock)
            for _ in range(options.rounds if not bare else 3):
                for id in (short, long):
                    with without(id) if bare else contextlib.nullcontext():
                        times[id].append(timed(work, id, project, clock))
            a, b = (1000 * statistics.median(times[id]) for id in (short, long))
            told[name] = round(b / a, 2)
            print(
                f"{name:26} {options.short}: {a:7.1f} ms   {options.events}: {b:7.1f} ms   {b / a:5.2f} x",
                flush=True,
            )
    print(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main())
