"""What training says of a failing test is what a repair says of it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, Literal

import pytest

from deskagent.repair.command import TestCommand
from deskagent.repair.model.judge import failure_of
from deskagent.repair.types import Baseline
from deskagent.repair.verify import Verifier
from deskagent.terminal.sandbox import Unconfined
from engine.train.bugs import sandbox
from engine.train.bugs.runner import Runner
from engine.train.bugs.trace import lay_out
from engine.train.corpus.files import Document

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the worker forks")
RIGHT = """\
def f(n, more=0):
    if n < 0:
        raise ValueError("below zero")
    if more == 2:
        return [1, n, {"a": n}]
    if more == 3:
        return "one\\ntwo"
    return helper(n) + more


def helper(n):
    return [
        n * 2,
    ][0]
"""
LAST = 7
BROKEN = {
    "number": ("helper(n) + more", "helper(n) - more - 1", "f(3)"),
    "list": ('{"a": n}', '{"a": -n}', "f(3, 2)"),
    "text": ("one\\ntwo", "one\\nthree", "f(3, 3)"),
    "raises": ("if n < 0", "if n < -5", "f(-2)"),
    "error": ("helper(n) + more", "helper(None) + more", "f(4)"),
    "name": ("return [1, n", "return [one, n", "f(5, 2)"),
}
Runs = Literal["pytest", "unittest"]
_PLACE = re.compile(r'File "[^"]*"|in test_\w+')


def told(folder: Path, runner: Runs) -> dict[str, dict[str, Any]]:
    """What training says of each bug, and the test of it."""
    lay_out([Document("made", "mod.py", "python", RIGHT)], folder / "corpus")
    given = {"package": "made", "module": "mod", "path": "mod.py", "text": RIGHT, "seed": 7, "runner": runner}
    head = "\n".join(RIGHT.split("\n")[: LAST + 1])
    functions = []
    for name, (old, new, source) in BROKEN.items():
        function = {"name": name, "called": "f", "owner": None, "first": 0, "last": LAST + 1}
        functions.append({**function, "groups": [[source]], "mutants": [head.replace(old, new)]})
    plain = [{"name": each["name"], "groups": each["groups"]} for each in functions]
    with Runner(folder, unsafe=not sandbox.available()) as run:
        meant = {each["function"]: each["meant"] for each in run.facts(given | {"functions": plain})}
        asked = [{**each, "meant": meant[each["name"]]} for each in functions]
        return {each["function"]: each for each in run.bugs(given | {"functions": asked})}


@pytest.mark.parametrize("runner", ["pytest", "unittest"])
def test_training_and_a_repair_say_the_same_of_a_failing_test(runner: Runs, tmp_path: Path) -> None:
    training = told(tmp_path / "training", runner)
    assert set(training) == set(BROKEN)
    project = tmp_path / "project"
    project.mkdir()
    head = "\n".join(RIGHT.split("\n")[: LAST + 1])
    for name, (old, new, _) in BROKEN.items():
        (project / f"mod_{name}.py").write_text(RIGHT.replace(head, head.replace(old, new)))
        test = training[name]["test"].replace("from mod import", f"from mod_{name} import")
        (project / f"test_{name}.py").write_text(test)
    words = ("-q",) if runner == "pytest" else ("discover",)
    argv = (sys.executable, "-m", runner, *words)
    env = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = TestCommand(" ".join(argv), argv, runner, Path(sys.executable), words, env, as_module=True)
    with Verifier(project, command, sandbox=Unconfined(), slots=1) as verifier:
        found = verifier.baseline()
    for name in BROKEN:
        (result,) = [each for each in found.failing if f"test_{name}" in each.id.split("::")[0].split(".")[0]]
        said = failure_of(Baseline((result,), {}, 1.0))
        ours = training[name]["failure"]
        assert _PLACE.sub("", said)[-250:] == _PLACE.sub("", ours)[-250:], name
        if runner == "pytest":
            assert said[-600:].strip() == ours, name
