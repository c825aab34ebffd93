"""What is run harms nobody, and what only happens to be is not taken for true."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.train.bugs import sandbox
from engine.train.bugs.runner import Runner
from engine.train.bugs.trace import lay_out
from engine.train.corpus.files import Document

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits of processes are those of POSIX")
UNSAFE = not sandbox.available()
TEXT = "def f(n):\n    return n\n"


def ask(folder: Path, text: str, sources: list[str], mutants: list[str]) -> list[dict[str, Any]]:
    """What bugs in a module's first function, `f`, make fail."""
    lay_out([Document("made", "m.py", "python", text)], folder / "corpus")
    function: dict[str, Any] = {"name": "0", "groups": [[source] for source in sources]}
    given = {"package": "made", "module": "m", "path": "m.py", "text": text, "seed": 1, "runner": "pytest"}
    with Runner(folder, unsafe=UNSAFE) as runner:
        (facts,) = runner.facts(given | {"functions": [function]})
        last = text.split("\n").index("    return n") + 1
        function |= {"called": "f", "owner": None, "first": 0, "last": last, "mutants": mutants}
        return list(runner.bugs(given | {"functions": [{**function, "meant": facts["meant"]}]}))


def test_what_never_ends_dies_or_leaves_processes_is_ended_and_the_rest_goes_on(tmp_path):
    mutants = [
        "def f(n):\n    import os; os.kill(os.getpid(), 9)",
        "def f(n):\n    return n + 1",
        "def f(n):\n    import os\n    if not os.fork():\n        import time; time.sleep(600)\n    return n + 2",
        "def f(n):\n    raise SystemExit",
        "def f(n):\n    return f(n)",
        "def f(n):\n    while n: n = 1",
        "def f(n):\n    return n + 3",
    ]
    told = ask(tmp_path, TEXT, ["f(1)"], mutants)
    kinds = {each["mutant"]: each["kind"] for each in told}
    assert kinds == {1: "value", 2: "value", 4: "error", 5: "timeout"}  # one that never ends is the last
    endless = told[-1]["failure"]
    assert endless.endswith("while n: n = 1") and "Ran out" not in endless[-300:]


def test_values_that_hang_on_the_order_of_sets_are_no_facts(tmp_path):
    text = "def f(n):\n    return n\n\n\ndef g(n):\n    return list({'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', n})\n"
    lay_out([Document("made", "m.py", "python", text)], tmp_path / "corpus")
    function = {"name": "0", "groups": [["g('z')"], ["f(2)"]]}
    given = {"package": "made", "module": "m", "path": "m.py", "text": text, "seed": 1, "runner": "pytest"}
    with Runner(tmp_path, unsafe=UNSAFE) as runner:
        (facts,) = runner.facts(given | {"functions": [function]})
        assert [fact["source"] for fact in facts["meant"]] == ["g('z')", "f(2)"]
        broken = "def f(n):\n    return n - 1"
        function |= {"called": "f", "owner": None, "first": 0, "last": 2, "mutants": [broken], **facts}
        (told,) = runner.bugs(given | {"functions": [function]})
    assert told["thought"] == "expected 2, got 1\n"


@pytest.mark.skipif(UNSAFE, reason="no bwrap here")
def test_nothing_is_reached_from_within(tmp_path):
    outside = tmp_path / "outside"
    tries = [
        f"open({str(outside)!r}, 'w').write('a')",
        "__import__('socket').create_connection(('127.0.0.1', 1))",
        f"__import__('os').kill({os.getpid()}, 0)",
        f"open({str(Path.home() / '.bashrc')!r}).read()",
    ]
    mutants = [f"def f(n):\n    {each}" for each in tries]
    told = ask(tmp_path, TEXT, ["f(1)"], mutants)
    assert [each["kind"] for each in told] == ["error"] * len(tries)
    assert not outside.exists()
