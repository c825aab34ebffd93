import json
import shutil
from pathlib import Path

import pytest

from deskagent.repair.command import TestCommand
from deskagent.repair.toolchains import known, node
from deskagent.repair.types import Frame, Outcome, TestResult


def command(*words):
    return TestCommand(" ".join(words), words, "command")


def test_its_own_command(tmp_path):
    found = node.understand(command("node", "--test", "test/a.js"), tmp_path)
    assert found is not None
    assert found.named.argv == ("node", "--test", "--test-reporter=tap", "test/a.js")


def test_a_script_of_package_json(tmp_path):
    (tmp_path / "package.json").write_text(json.dumps({"scripts": {"test": "node --test test"}}))
    found = node.understand(command("npm", "test"), tmp_path)
    assert found is not None and found.named.argv == ("node", "--test", "--test-reporter=tap", "test")


@pytest.mark.parametrize(
    "scripts",
    [
        {"test": "jest"},
        {"test": "node --test && echo"},
        {"test": "tsc; node --test"},
        {"test": "node --test", "pretest": "x"},
        {"test": 3},
        {},
    ],
)
def test_scripts_that_are_more_than_that(tmp_path, scripts):
    (tmp_path / "package.json").write_text(json.dumps({"scripts": scripts}))
    assert node.understand(command("npm", "test"), tmp_path) is None


def test_rubbish_for_package_json(tmp_path):
    (tmp_path / "package.json").write_text("[[[")
    assert node.understand(command("npm", "test"), tmp_path) is None


def test_failing_tests_alone(tmp_path):
    found = node.understand(command("node", "--test"), tmp_path)
    test = TestResult("group > adds (a|b)", Outcome.FAILED, frames=(Frame("test/a.test.js", 3, ""),))
    alone = found.only([test])
    assert alone.argv[-2:] == ("--test-reporter=tap", "test/a.test.js")
    assert r"--test-name-pattern=/^adds \(a\|b\)$/" in alone.argv
    assert found.only([TestResult("x", Outcome.FAILED)]) is None


def test_covered_lines():
    text = "function f(a) {\n  if (a) {\n    return 1;\n  }\n  return 2; // ü\n}\nf(0);\n"
    inner = {
        "startOffset": text.index("{\n    return"),
        "endOffset": text.index("}\n  return") + 1,
        "count": 0,
    }
    functions = [
        {"ranges": [{"startOffset": 0, "endOffset": len(text), "count": 1}]},
        {"ranges": [{"startOffset": 0, "endOffset": text.index("f(0)") - 1, "count": 1}, inner]},
    ]
    assert node.covered(text, functions) == {1, 2, 5, 7}


def test_characters_outside_of_the_first_plane_count_twice():
    text = "'😀';\nf();\n"
    ranges = [
        {"startOffset": 0, "endOffset": len(text) + 1, "count": 0},
        {"startOffset": 6, "endOffset": 10, "count": 1},
    ]
    assert node.covered(text, [{"ranges": ranges}]) == {2}


def test_rubbish_for_coverage(tmp_path):
    found = node.understand(command("node", "--test"), tmp_path)
    (tmp_path / "coverage-1.json").write_text('{"result": [{"url": "file:///p/a.js"}]}')
    (tmp_path / "coverage-2.json").write_bytes(b"\xff\0")
    (tmp_path / "a.js").write_text("1;\n")
    assert found.lines(tmp_path, Path("/p"), tmp_path) == {}


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_a_real_trace(tmp_path):
    import os
    import subprocess

    (tmp_path / "a.js").write_text("exports.f = (a) => {\n  if (a) {\n    return 1;\n  }\n  return 2;\n};\n")
    (tmp_path / "a.test.js").write_text(
        "const test = require('node:test');\nconst { f } = require('./a.js');\n"
        "test('yes', () => { f(1); });\ntest('no', () => { f(0); });\n"
    )
    found = node.understand(command("node", "--test", "a.test.js"), tmp_path)
    traced = found.traced(TestResult("yes", Outcome.PASSED), tmp_path / "lines")
    env = {**{n: v for n, v in os.environ.items() if n != "NODE_OPTIONS"}, **traced.env}
    done = subprocess.run(traced.argv, cwd=tmp_path, env=env, capture_output=True, timeout=120, check=False)
    if done.returncode:
        pytest.skip(f"this node has no test runner: {done.stderr[:200]!r}")
    lines = found.lines(tmp_path / "lines", tmp_path.resolve(), tmp_path)["a.js"]
    assert {2, 3} <= lines
    assert 5 not in lines


def test_a_suite_that_hangs_gets_so_much_time(tmp_path):
    found = node.understand(command("node", "--test"), tmp_path).within(2.5)
    assert "--test-timeout=2500" in found.named.argv


def test_which_commands_can_limit_their_tests(tmp_path):
    assert known.limits_tests(command("node", "--test"), tmp_path)
    assert known.limits_tests(command("go", "test", "./..."), tmp_path)
    assert not known.limits_tests(command("make", "test"), tmp_path)
