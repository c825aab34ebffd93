"""The app beside an empty Textual app, in terminals of the same size: first paint, idle CPU, memory.

    python bench/first_paint.py [--runs 7] [--events 10000] [--idle 10]

First paint is from the start of the process until the composer (there: a line of text) has come to the terminal: runs
of both in turn, medians, their ratio. Idle CPU, as a share of one core, and resident memory are those of a session with
so many events, opened and left alone.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path

import pexpect

from deskagent.messages import Call, Result, Text
from deskagent.session import events, talk
from deskagent.session.journal import Journal

EMPTY = """
from textual.app import App
from textual.widgets import Static
class Empty(App):
    def compose(self):
        yield Static("Say what is to be done")
Empty().run()
"""
MARK = "ay what is to be done"
TICKS = os.sysconf("SC_CLK_TCK")


def started(words: list[str], folder: Path) -> pexpect.spawn:
    env = {**os.environ, "TERM": "xterm-256color"}
    return pexpect.spawn(words[0], words[1:], cwd=str(folder), env=env, timeout=120, dimensions=(36, 120))


def painted(words: list[str], folder: Path) -> float:
    """Seconds to the first paint."""
    began = time.monotonic()
    child = started(words, folder)
    child.expect_exact(MARK)
    took = time.monotonic() - began
    ended(child)
    return took


def ended(child: pexpect.spawn) -> None:
    """However busy the machine is."""
    os.kill(child.pid, signal.SIGKILL)
    child.wait()


def used(pid: int) -> float:
    """Seconds of CPU so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident(pid: int) -> float:
    line = next(
        each for each in Path(f"/proc/{pid}/status").read_text().split("\n") if each.startswith("VmRSS")
    )
    return int(line.split()[1]) / 1024


def left_alone(words: list[str], folder: Path, mark: str, seconds: float) -> tuple[float, float]:
    """Share of a core while idle, and MiB."""
    child = started(words, folder)
    child.expect_exact(mark)
    drain(child, 3.0)
    before = used(child.pid)
    drain(child, seconds)
    share, memory = (used(child.pid) - before) / seconds, resident(child.pid)
    ended(child)
    return share, memory


def drain(child: pexpect.spawn, seconds: float) -> None:
    """Reads what comes for so long."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        with contextlib.suppress(pexpect.TIMEOUT):
            child.read_nonblocking(1 << 16, timeout=left)


def session(folder: Path, count: int) -> str:
    """A conversation of at least so many events."""

    def fill(journal: Journal) -> None:
        journal.append(events.SessionStarted(version="1", cwd=str(folder)))
        for n in range(count // 7 + 1):
            journal.append(events.Request(text=f"question {n}"))
            journal.append(talk.Spoken(id=f"t{n}", parts=(Text(f"question {n}"),)))
            journal.append(talk.ModelAsked(id=f"a{n}", model="stand/in"))
            journal.append(
                talk.PartCame(ask=f"a{n}", part=Text(f"Answer **{n}**. " + "Some words of it. " * 10))
            )
            journal.append(talk.PartCame(ask=f"a{n}", part=Call(f"c{n}", "read", '{"path": "calc.py"}')))
            journal.append(talk.ModelAnswered(ask=f"a{n}", stop="calls"))
            journal.append(talk.CallEnded(id=f"c{n}", result=Result.of(f"{n}\tline of a file\n" * 20)))

    return Journal.bring(1.7e9, fill)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--idle", type=float, default=10.0)
    given = parser.parse_args()
    app = [str(Path(sys.executable).with_name("deskagent"))]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "project"
        folder.mkdir()
        os.environ["DESKAGENT_HOME"] = str(Path(name) / "home")
        config = Path(name) / "home" / "config"
        config.mkdir(parents=True)
        (config / "models.toml").write_text(
            'default = "stand/in"\n["stand/in"]\ndialect = "vllm"\nbase = "http://127.0.0.1:9/v1"\ncontext = 10000000\n'
        )
        empty = [sys.executable, "-c", EMPTY]
        times: dict[str, list[float]] = {"empty": [], "app": []}
        for run in range(given.runs + 1):
            for kind, words in (("empty", empty), ("app", app)):
                took = painted(words, folder)
                if run:  # the first of each fills caches
                    times[kind].append(took)
        medians = {kind: statistics.median(found) for kind, found in times.items()}
        print(f"first paint: empty {medians['empty']:.2f} s, app {medians['app']:.2f} s", end=", ")
        print(f"ratio {medians['app'] / medians['empty']:.2f}")
        long = session(folder, given.events)
        for kind, words, mark in (("empty", empty, MARK), ("app", [*app, "-r", long], "question")):
            share, memory = left_alone(words, folder, mark, given.idle)
            print(f"{kind}: idle {share:.2%} of a core, {memory:.0f} MiB")


if __name__ == "__main__":
    main()
