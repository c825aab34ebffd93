"""bench/repair judges what a command leaves behind, whatever the command says of itself."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import repair

SCRIPT = Path(repair.__file__)

# stands for deskagent: edits calc.py by the rule that the request names, then prints a result
COMMAND = """
import json, pathlib, sys
request = sys.argv[2]
assert sys.argv[1] == "fix" and "--output-format" in sys.argv
file = pathlib.Path("calc.py")
before = file.read_text()
rules = {
    "right": ("a - b", "(a +  b)"),
    "other": ("a - b", "a + b"),
    "overfits": ("a - b", "3 if a else 0"),
    "lies": ("a - b", "b"),
    "dirty": ("a - b", "a * b"),
    "listed": ("a - b", "3 if a else 0"),
}
if request == "crashes":
    sys.exit("Traceback: oh no")
file.write_text(before.replace(*rules[request]))
diff = "--- a/calc.py\\n+++ b/calc.py\\n@@ -2 +2 @@\\n-    return a - b\\n+    return a + b\\n"
patch = {"diff": diff, "files": [{"path": "calc.py"}], "operator": "op", "note": "", "candidate_index": 7}
status, code = ("not_fixed", 1) if request == "dirty" else ("fixed", 0)
others = [{**patch, "candidate_index": 4}] if request == "listed" else []
result = {"type": "result", "status": status, "exit_code": code, "candidates": 9, "patch": patch}
print("an event")
print(json.dumps({**result, "alternatives": others}))
sys.exit(code)
"""


def make_case(cases: Path, request: str) -> None:
    folder = cases / request
    (folder / "buggy").mkdir(parents=True)
    (folder / "fixed").mkdir()
    (folder / "buggy/calc.py").write_text("def add(a, b):\n    return a - b\n")
    (folder / "fixed/calc.py").write_text("def add(a, b):\n    return a + b\n")
    test = "from calc import add\n\ndef test_a():\n    assert add(1, 2) == 3\n"
    test += "\ndef test_b():\n    assert add(0, 0) == 0\n"
    (folder / "buggy/test_calc.py").write_text(test)
    facts = {
        "name": request,
        "kind": "operator",
        "set": "tune",
        "request": request,
        "test": "python -m pytest -q",
    }
    (folder / "case.json").write_text(json.dumps({**facts, "failing": ["test_calc.py::test_a"]}))


@pytest.fixture
def measured(tmp_path):
    """Runs bench/repair on one case whose request tells the stand-in what to do; the row and what was printed."""

    def run(request: str) -> tuple[dict, str, int]:
        make_case(tmp_path / "cases", request)
        (tmp_path / "command.py").write_text(COMMAND)
        out = tmp_path / "out.json"
        command = [
            sys.executable,
            str(SCRIPT),
            str(tmp_path / "cases"),
            "--json",
            str(out),
            "--seconds",
            "30",
        ]
        command += ["--command", sys.executable, str(tmp_path / "command.py")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert out.is_file(), done.stderr
        (row,) = json.loads(out.read_text())
        return row, done.stdout, done.returncode

    return run


def test_right(measured):
    row, text, code = measured("right")
    assert (row["green"], row["right"], row["overfitted"], row["listed"]) == (True, True, False, False)
    assert (row["first_right"], row["candidates"], row["exit"], code) == (7, 9, 0, 0)
    assert "median candidates to the first right patch: 7 (of 1)" in text


def test_overfitted(measured):
    row, _, code = measured("overfits")
    assert (row["green"], row["right"], row["overfitted"], row["first_right"], code) == (
        True,
        False,
        True,
        None,
        0,
    )


def test_right_one_among_the_alternatives(measured):
    row, _, _ = measured("listed")
    assert (row["right"], row["listed"], row["first_right"]) == (False, True, 4)


@pytest.mark.parametrize(
    "request_, problem",
    [("lies", "the tests fail"), ("dirty", "the tree is changed"), ("crashes", "no result event")],
)
def test_broken_promises(measured, request_, problem):
    row, text, code = measured(request_)
    assert not row["green"]
    assert problem in row["broken"][0]
    assert "broken promises: 1" in text
    assert code == 1


@pytest.mark.parametrize(
    ("source", "there"),
    [
        ("def add(a, b):\n    return a - b\n", True),
        ("def add(a, b):\n    while True:\n        pass\n", True),  # what hangs is to be repaired too
        ("def add(a, b):\n    return a + b\n", False),
        ("import zzqx_toolkit\n", False),  # its tests can't be had here: nothing could be measured
    ],
    ids=["fails", "hangs", "passes", "can't be imported"],
)
def test_a_case_is_measured_only_where_it_fails(tmp_path, monkeypatch, source, there):
    if "while" in source:
        monkeypatch.setattr(repair, "LOOK", 5.0)  # the others have the time that a busy machine takes
    make_case(tmp_path / "cases", "right")
    (case,) = repair.find_cases([tmp_path / "cases"])
    folder = tmp_path / "tree"
    repair.lay_out(case, folder)
    (folder / "calc.py").write_text(source)
    assert repair.fails(case, folder, sys.executable) is there
