"""A bug in JavaScript and one in Go, repaired by the installed command; one in a language that is only localised."""

from __future__ import annotations

import shutil
import subprocess

import pytest

CLAMP_JS = """
export function clamp(x, low, high) {
  if (x < low) {
    return high;
  }
  return x > high ? high : x;
}
"""
CLAMP_JS_TEST = """
import assert from "node:assert/strict";
import test from "node:test";
import { clamp } from "../src/clamp.js";

test("below", () => assert.equal(clamp(-3, 1, 9), 1));
test("within", () => assert.equal(clamp(5, 1, 9), 5));
test("above", () => assert.equal(clamp(12, 1, 9), 9));
"""
STEPS_GO = """
package steps

// Total adds up the steps of a week.
func Total(days []int) int {
	total := 0
	for day := range days {
		total += day
	}
	return total
}

// Best is the best day's place, -1 for no days.
func Best(days []int) int {
	best := -1
	for i, day := range days {
		if best < 0 || day > days[best] {
			best = i
		}
	}
	return best
}
"""
STEPS_GO_TEST = """
package steps

import "testing"

func TestTotal(t *testing.T) {
	if got := Total([]int{400, 20, 8}); got != 428 {
		t.Errorf("total %d, want 428", got)
	}
}

func TestBest(t *testing.T) {
	if got := Best([]int{3, 9, 4}); got != 1 {
		t.Errorf("best %d, want 1", got)
	}
}
"""
PEEK_C = """
int stack_peek(int *items, int count) {
    return items[count];
}
"""
PEEK_TEST = """
import pathlib, sys
text = pathlib.Path("src/stack.c").read_text()
if "count - 1" not in text:
    sys.exit("src/stack.c:2: stack_peek: expected 2, got 9")
"""


def node_has_tests():
    node = shutil.which("node")
    if node is None:
        return False
    known = subprocess.run([node, "--help"], capture_output=True, text=True, timeout=60, check=False).stdout
    return "--test-reporter" in known


@pytest.mark.skipif(not node_has_tests(), reason="no node with a test runner is installed")
def test_javascript(agent, project):
    pytest.importorskip("tree_sitter_javascript")
    files = {"package.json": '{"type": "module", "scripts": {"test": "node --test"}}\n'}
    files |= {"src/clamp.js": CLAMP_JS, "test/clamp.test.js": CLAMP_JS_TEST}
    folder = project(files)
    done = agent.fix("clamp gives the upper bound for small numbers", "--test", "npm test", cwd=folder)
    assert done.code == 0, (done.stdout, done.stderr)
    assert done.result["evidence"]["failed_before_pass_now"] == ["below"]
    assert set(done.result["evidence"]["passed_before_pass_now"]) == {"within", "above"}
    assert "return low;" in (folder / "src/clamp.js").read_text()
    assert (folder / "test/clamp.test.js").read_text() == CLAMP_JS_TEST.lstrip("\n")


@pytest.mark.skipif(shutil.which("go") is None, reason="go is not installed")
def test_go(agent, project):
    pytest.importorskip("tree_sitter_go")
    folder = project(
        {
            "go.mod": "module example.com/steps\n\ngo 1.19\n",
            "steps.go": STEPS_GO,
            "steps_test.go": STEPS_GO_TEST,
        }
    )
    done = agent.fix("Total ignores how many steps a day has", "--test", "go test ./...", cwd=folder)
    assert done.code == 0, (done.stdout, done.stderr)
    assert done.result["evidence"]["failed_before_pass_now"] == ["example.com/steps.TestTotal"]
    assert "for _, day := range days" in (folder / "steps.go").read_text()
    assert (folder / "steps_test.go").read_text() == STEPS_GO_TEST.lstrip("\n")


def test_a_language_without_a_table(agent, project, snapshot):
    folder = project({"src/stack.c": PEEK_C, "check.py": PEEK_TEST})
    before = snapshot(folder)
    done = agent.fix(
        "stack_peek gives the wrong item", "--test", "python3 check.py", "--files", "src/*", cwd=folder
    )
    assert (done.code, done.result["status"]) == (1, "not_fixed")
    assert snapshot(folder) == before
    assert [(s["path"], s["line"]) for s in done.result["suspects"]] == [
        ("src/stack.c", 2),
        ("src/stack.c", 1),
    ]
    assert any("In C this only localises" in notice for notice in done.result["notices"])
