"""Memory of a conversation over many steps: a scripted model, real tools, a real session, room made as it fills.

    python bench/steps.py [--steps 1000]

Every step reads a file, searches, runs a command or changes a file; results have up to 20 kB. Prints resident memory,
after a collection, at a tenth, a half and all of the steps, what the history holds, and then a JSON object with the
ratio of the last to the first.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import random
import sys
import tempfile
from collections.abc import AsyncGenerator
from pathlib import Path

from deskagent.agent.converse.talk import Talk
from deskagent.agent.converse.work import Options, at_work
from deskagent.agent.front import Question
from deskagent.agent.permissions import Mode
from deskagent.messages import Text
from deskagent.providers.base import (
    Ask,
    CallDelta,
    Capabilities,
    Delta,
    Stop,
    Stopped,
    TextDelta,
    ThinkingDelta,
    Usage,
)


class Silent:
    interactive = False

    def ask(self, question: Question) -> bool:
        return True

    def choose(self, question: Question, choices: tuple[str, ...]) -> str:
        return ""

    def show(self, event: object) -> None:
        pass


class Scripted:
    """Calls one tool an answer, each time another."""

    name = "stand/in"
    capabilities = Capabilities(context=40_000)

    def __init__(self, steps: int) -> None:
        self.left, self.drawn = steps, random.Random(0)

    async def close(self) -> None:
        pass

    async def stream(self, ask: Ask) -> AsyncGenerator[Delta, None]:
        if ask.choice != "auto":
            yield TextDelta(0, "What was done: much. " * 50)
            yield Stopped(Stop.END)
            return
        self.left -= 1
        yield ThinkingDelta(0, f"Step {self.left}: what is next? " * 5, "reasoning_content")
        if self.left <= 0:
            yield TextDelta(1, "Done.")
            yield Stopped(Stop.END)
            return
        first = self.drawn.randint(1, 2000)
        name, arguments = [
            ("read", {"path": "a.txt", "first": first, "lines": 400}),
            ("grep", {"pattern": f"line {first % 10}"}),
            ("terminal", {"command": f"head -n {first % 300} a.txt"}),
            ("write", {"path": f"made-{first}.txt", "content": f"step {self.left}\n" * 40}),
        ][self.left % 4]
        yield CallDelta(1, f"call_{self.left}", name, json.dumps(arguments))
        yield Usage(prompt=1000, cached=900, output=50)
        yield Stopped(Stop.CALLS)


def resident() -> int:
    """Bytes of this process."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def watched(work: Talk, model: Scripted, marks: dict[int, int], steps: int) -> None:
    running = asyncio.ensure_future(work.run())
    while not running.done():
        await asyncio.sleep(0.01)
        done = steps - model.left
        for mark in (steps // 10, steps // 2, steps):
            if done >= mark and mark not in marks:
                marks[mark] = resident()
                turns = len(work.history.turns())
                print(f"{done:6} steps: {marks[mark] / 1e6:7.1f} MB, {turns} turns to send", flush=True)
    await running


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=1000)
    options = parser.parse_args()
    marks: dict[int, int] = {}
    with tempfile.TemporaryDirectory(prefix="steps") as made:
        os.environ["DESKAGENT_HOME"] = str(Path(made) / "home")
        project = Path(made) / "project"
        project.mkdir()
        (project / "a.txt").write_text(
            "".join(f"line {n} of the file, which is long enough\n" for n in range(2500))
        )
        model = Scripted(options.steps)
        work = Options(start=project, argv=(), model=lambda name: (model, False), mode=Mode.FULL)
        with at_work(work, Silent()) as talk:
            talk.say((Text("Do all of it."),))
            asyncio.run(watched(talk, model, marks, options.steps))
            summaries, events = talk.history.summaries, talk.recorder.journal.seq
    first, *_, last = marks.values()
    told = {"resident": marks, "summaries": summaries, "events": events, "ratio": round(last / first, 3)}
    print(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main())
