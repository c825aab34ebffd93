"""The miner on a history made on the spot."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import adapters
import formats
import mine
import pytest
from tests_of import bad, run_tests

SCRIPT = Path(mine.__file__)
PROGRAM = 'def first(items):\n    return items[1]\n\n\ndef label(item):\n    return "item %s" % item\n'
TEST = "from program import first, label\n\n\ndef test_label():\n    assert label(1) == 'item 1'\n"


@pytest.fixture
def history(tmp_path):
    """A repository and a function that commits a dict of files under a subject."""
    folder = tmp_path / "lists"
    folder.mkdir()

    def git(*words):
        env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        command = ["git", "-c", "user.name=t", "-c", "user.email=t@localhost", "-C", str(folder), *words]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout.strip()

    def commit(subject, **files):
        for name, text in files.items():
            path = folder / name.replace("__", "/").replace("_py", ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        git("add", "-A")
        git("commit", "-qm", subject)
        return git("rev-parse", "HEAD")

    git("init", "-q")
    return folder, commit


def run_miner(folder, out, *more):
    command = [sys.executable, str(SCRIPT), str(folder), "--out", str(out), "--seconds", "60", *more]
    return subprocess.run(command, capture_output=True, text=True, check=True)


def test_finds_the_fix_and_nothing_else(history, tmp_path):
    folder, commit = history
    fixed = PROGRAM.replace("[1]", "[0]")
    more = TEST + "\n\ndef test_first():\n    assert first([5, 6]) == 5\n"
    commit("start", program_py=PROGRAM, tests__test_program_py=TEST)
    commit("a comment", program_py="# lists\n" + PROGRAM)
    fix = commit("first() gives the second", program_py="# lists\n" + fixed, tests__test_program_py=more)
    new_test = more + "\n\ndef test_label_again():\n    assert label(2) == 'item 2'\n"
    same = "# lists\n" + fixed.replace("%s", "%r")
    commit("no bug", program_py=same, tests__test_program_py=new_test)
    two = same.replace("items[0]", "items[-1]").replace("item %r", "%r")
    commit("two places", program_py=two, tests__test_program_py=new_test.replace("item ", ""))
    out = tmp_path / "cases.jsonl"
    done = run_miner(folder, out)
    (case,) = adapters.read_real(out)
    assert (case["fix"], case["subject"]) == (fix, "first() gives the second")
    assert (case["source"], case["test_files"]) == ("program.py", ["tests/test_program.py"])
    assert case["fail_to_pass"] == ["tests/test_program.py::test_first"]
    assert (case["pass_to_pass"], case["added"], case["removed"], case["kind"]) == (1, 1, 1, "real-replace")
    assert "1 nothing fails before" in done.stdout
    assert "1 several hunks" in done.stdout

    before = out.read_bytes(), (tmp_path / "cases.jsonl.seen").read_bytes()
    again = run_miner(folder, out)
    assert again.stdout == ""
    assert (out.read_bytes(), (tmp_path / "cases.jsonl.seen").read_bytes()) == before

    facts = {**case, "repo": "some/lists"}
    mirrors = tmp_path / "mirrors"
    mirrors.mkdir()
    (mirrors / "some+lists").symlink_to(folder / ".git")
    made = adapters.real(facts, mirrors, tmp_path / "scratch")
    tree = tmp_path / "tree"
    made.lay_out(tree)
    assert bad(run_tests(tree, made.test)) == {"tests/test_program.py::test_first"}
    assert "test_first" in made.request and "items[0]" not in made.request
    (tree / "program.py").write_bytes(made.answers[0]["program.py"])
    assert bad(run_tests(tree, made.test)) == set()


def test_stops_at_the_limit(history, tmp_path):
    folder, commit = history
    commit("start", program_py=PROGRAM, tests__test_program_py=TEST)
    program, test = PROGRAM, TEST
    for number in (1, 2):
        program = program.replace(f"[{number}]", f"[{number + 1}]")
        test += f"\n\ndef test_{number}():\n    assert first([1, 2, 3, 4]) == {number + 2}\n"
        test = test.replace(f"== {number + 1}", f"!= {number + 1}")
        commit(f"step {number}", program_py=program, tests__test_program_py=test)
    out = tmp_path / "cases.jsonl"
    run_miner(folder, out, "--limit", "1")
    assert [case["subject"] for case in adapters.read_real(out)] == ["step 2"]


@pytest.mark.parametrize(
    "path, expected",
    [
        ("tests/test_a.py", True),
        ("pkg/test_a.py", True),
        ("pkg/a_test.py", True),
        ("pkg/tests/helper.py", True),
        ("pkg/testing.py", False),
        ("contest/a.py", False),
    ],
)
def test_is_test(path, expected):
    assert mine.is_test(path) is expected


def test_kind_of():
    commit = mine.Commit("f", "p", "", "", "a.py", (), 1, 1)
    assert mine.kind_of(b"x = 'a'\n", b"x = 'b'\n", commit) == "real-string"
    assert mine.kind_of(b"x = 'a'\n", b"y = 'a'\n", commit) == "real-replace"
    assert mine.kind_of(b"", b"", mine.Commit("f", "p", "", "", "a.py", (), 1, 0)) == "real-insert"


def test_reads_lists_and_lines(tmp_path):
    file = tmp_path / "facts"
    file.write_text(json.dumps([{"name": "a"}]))
    assert adapters.read_real(file) == [{"name": "a"}]
    file.write_text('{"name": "a"}\n\n{"name": "b"}\n')
    assert [facts["name"] for facts in adapters.read_real(file)] == ["a", "b"]


def test_quixbugs_trees_hold_no_answers(tmp_path):
    root = tmp_path / "quix"
    files = {
        "conftest.py": "",
        "python_programs/gcd.py": "bad",
        "python_programs/lcm.py": "bad",
        "python_programs/node.py": "node",
        "correct_python_programs/gcd.py": "good",
        "correct_python_programs/lcm.py": "good",
        "python_testcases/test_gcd.py": "",
        "python_testcases/test_lcm.py": "",
        "python_testcases/load_testdata.py": "",
        "python_testcases/node.py": "node",
        "json_testcases/gcd.json": "[]",
    }
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    gcd, lcm = adapters.quixbugs(root, tmp_path / "scratch")
    tree = formats.files_under(gcd.trees[0])
    assert set(tree) == {
        "conftest.py",
        "json_testcases/gcd.json",
        "python_programs/gcd.py",
        "python_programs/node.py",
        "python_testcases/load_testdata.py",
        "python_testcases/node.py",
        "python_testcases/test_gcd.py",
    }
    assert gcd.answers == ({"python_programs/gcd.py": b"good"},)
    assert lcm.test.endswith("test_lcm.py")
