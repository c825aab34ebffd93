"""The process that runs what nobody has read: inside a pytest that has started, each document in a fork.

A line of JSON comes on stdin for each document: {"root", "module", "path", "text", "runner"?, "seed", "functions":
[…]}, of functions {"name", "groups": [[source, …], …]}; of those to put bugs into also "meant": facts, "called",
"owner", "first", "last" and "mutants": [text, …]. A line {"function", "meant": facts} goes out for each function
without mutants; for each bug that shows {"function", "mutant", "kind", "failure", "thought", "test"}, a file's text.
An empty line ends a document.
"""

from __future__ import annotations

import gc
import json
import os
import random
import shutil
import signal
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.train.bugs import runs, worded
from engine.train.bugs.forks import WHOLE, Send, begin, each, send, streamed
from engine.train.bugs.said import RUNNERS, runner, said

_ENDLESS, _ENOUGH = 1, 16
"""Bugs of a function that may take all their time; that are wanted at all."""
_WANTED = {"value": 6.0, "error": 1.5, "raises": 2.0, "timeout": 1.0}
"""How much a failure of each kind is preferred, where a bug shows in several ways."""
Given = dict[str, Any]


class Server:
    """A plugin that serves once pytest is ready to collect. alone: whether all other processes that it sees are its
    own."""

    def __init__(self, asked: int, told: int, alone: bool) -> None:
        self.asked, self.told, self.alone = asked, told, alone

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> None:
        _warm(session)
        gc.collect()
        gc.freeze()  # forks share what is never looked at
        gc.disable()
        for line in os.fdopen(self.asked, "rb"):
            given = json.loads(line)
            for found in streamed(lambda send, given=given: document(given, session, send), WHOLE):
                os.write(self.told, found + b"\n")
            self._clean()
            os.write(self.told, b"\n")
        os._exit(0)

    def _clean(self) -> None:
        if self.alone:
            try:
                os.kill(-1, signal.SIGKILL)
            except ProcessLookupError:
                pass  # nothing was left
        for left in Path.cwd().iterdir():
            shutil.rmtree(left, ignore_errors=True) if left.is_dir() else left.unlink(missing_ok=True)


def _warm(session: pytest.Session) -> None:
    """Has what a runner imports when a test fails, so that forks needn't."""
    for number, (runner_, _) in enumerate(RUNNERS.items()):
        test = Path.cwd() / f"test_warm_{number}.py"
        fact = {"before": [], "source": "str([1, 'a'])", "value": "'b'", "raises": None}
        test.write_text(said(fact, "builtins", ["str"], runner_, random.Random(number)), "utf-8")
        worded.worded(session, test, runner_)
        test.unlink()


def document(given: Given, session: pytest.Session, send: Send) -> None:
    sys.path.append(given["root"])
    runs.load(given)
    functions = given["functions"]
    meant = {
        functions[number]["name"]: seen
        for number, seen in each(functions, lambda function: runs.facts(given, function["groups"]))
        if isinstance(seen, list)
    }
    for function in functions:
        seen = meant.get(function["name"], [])
        if "mutants" not in function:
            send({"function": function["name"], "meant": seen})
        elif facts := runs.agreed(seen, function["meant"]):
            for number, bug in _bugs(given, function, facts, session):
                send({"function": function["name"], "mutant": number, **bug})


def _bugs(
    given: Given, function: dict[str, Any], facts: list[runs.Fact], session: pytest.Session
) -> Iterator[tuple[int, dict[str, Any]]]:
    endless = found = 0

    def work(numbered: tuple[int, str]) -> object:
        number, text = numbered
        return shown(
            given,
            function,
            text,
            facts,
            session,
            random.Random(f"{given['seed']} {function['name']} {number}"),
        )

    for number, bug in each(list(enumerate(function["mutants"])), work):
        if isinstance(bug, dict):
            yield number, bug
            endless += bug["kind"] == "timeout"
            found += 1
        if endless >= _ENDLESS or found >= _ENOUGH:
            return


def shown(
    given: Given,
    function: dict[str, Any],
    text: str,
    facts: list[runs.Fact],
    session: pytest.Session,
    rng: random.Random,
) -> dict[str, Any] | None:
    """One of the facts that don't hold with this text of a function, as a test tells it that passes with the right
    one."""
    at = 0

    def watch(number: int) -> None:
        nonlocal at
        at = number

    def late(_: int, frame: Any) -> None:
        raise _LateError

    def later(_: int, frame: Any) -> None:
        failure = worded.settled(worded.stack(frame), given["root"])
        send(
            {
                "kind": "timeout",
                "failure": failure,
                "thought": "got no end\n",
                "test": test.read_text("utf-8"),
            }
        )
        os._exit(0)

    back = runs.patched(given, function, text)
    signal.signal(signal.SIGPROF, late)
    try:
        found = list(runs.differences(given, facts, watch))
    except _LateError:
        found = [(at, "timeout", "")]
    finally:
        back()
    if not found:
        return None
    begin()
    at, kind, thought = rng.choices(found, [_WANTED[kind] for _, kind, _ in found])[0]
    chosen, test = written(given, facts[at], rng)
    if not worded.passes(test):
        return None
    back = runs.patched(given, function, text)
    signal.signal(signal.SIGPROF, later)
    try:
        failure = worded.settled(worded.worded(session, test, chosen), given["root"])
    finally:
        back()
    if not failure or kind == "timeout":
        return None
    thought = worded.settled(thought, given["root"]) + "\n"
    return {"kind": kind, "failure": failure, "thought": thought, "test": test.read_text("utf-8")}


class _LateError(BaseException):
    """A call took too long."""


def written(given: Given, fact: runs.Fact, rng: random.Random) -> tuple[str, Path]:
    """Who runs a test of a fact, and its file."""
    names = runs.names_of(fact, sys.modules[given["module"]].__dict__)
    chosen = given.get("runner") or runner(rng)
    test = Path.cwd() / f"test_{given['module'].rpartition('.')[2].strip('_')}.py"
    test.write_text(said(fact, given["module"], names, chosen, rng), "utf-8")
    return chosen, test


def main() -> None:
    warnings.simplefilter("ignore")
    asked, told = os.dup(0), os.dup(1)
    quiet = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(quiet, number)
    root, work = str(Path(__file__).parents[3]), str(Path.cwd())
    sys.path[:] = [path for path in sys.path if path not in ("", root)]
    options = ["-q", "-s", "-p", "no:cacheprovider", "-p", "no:faulthandler", "--rootdir", work, work]
    pytest.main(options, plugins=[Server(asked, told, sys.argv[1:] == ["alone"])])


if __name__ == "__main__":
    main()
