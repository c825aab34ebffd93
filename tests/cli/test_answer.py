from __future__ import annotations

import click
import pytest

from deskagent.cli.answer import answer, complaint

EVIL = "\x1b]52;c;aGk=\x07\u202e\x9b2J"


def result(**changes: object) -> dict:
    patch = {"diff": f"--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a {EVIL}\n+b\n", "files": [{"path": "x.py"}]}
    evidence = {
        "failing_before": [{"id": f"t.py::{EVIL}", "outcome": "failed", "message": EVIL}],
        "failed_before_pass_now": [f"t.py::{EVIL}"],
        "fail_as_before": [],
        "passed_before_pass_now": ["t.py::b", "t.py::c"],
        "before": {"command": "pytest -q", "summary": "exit 1"},
        "after": {"command": f"pytest {EVIL}", "summary": "exit 0, 3 passed"},
    }
    plain = {
        "status": "fixed", "applied": True, "apply_note": "", "patch": patch, "evidence": evidence, "error": None,
        "alternatives": [{"diff": "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n ctx\n-a\n+c\n", "apart": f"at line 1 {EVIL}"}],
        "suspects": [{"path": EVIL, "line": 3, "score": 0.5, "reasons": [EVIL]}],
        "ruled_out": {"tried": 7, "by_operator": {"a.b": 7}}, "candidates": 9, "seconds": 1.0,
        "steps": [], "session_id": "s", "sandbox": "bwrap", "regression": None,
        "models": [
            {"name": EVIL, "began": True, "chosen": False, "passes": False, "turns": 1, "seconds": 1.0, "cost_usd": 0.1,
             "why": EVIL},
        ],
    }  # fmt: skip
    return plain | changes


@pytest.mark.parametrize("status", ["fixed", "not_fixed", "limit", "nothing_to_fix"])
def test_hostile_text_is_inert(status: str) -> None:
    text = click.unstyle(answer(result(status=status)))
    assert not set(text) & set("\x1b\x07\u202e\x9b")
    assert "\x1b" not in complaint(result(error={"message": EVIL, "hint": EVIL}))


def test_a_fix_says_that_tests_pass_and_shows_its_rivals() -> None:
    text = click.unstyle(answer(result()))
    assert "tests pass" in text
    assert "correct" not in text.lower()
    assert "Passed before and still do: 2." in text
    assert "1 other edit passes the tests too:" in text
    assert "   -a\n   +c" in text
    assert " ctx" not in text


def test_what_fails_as_before_is_named() -> None:
    evidence = result()["evidence"] | {"fail_as_before": ["t.py::d"]}
    text = click.unstyle(answer(result(evidence=evidence)))
    assert "The tests that the request names pass with this patch" in text
    assert "Not named in the request, and fails as before:\n  t.py::d" in text


def test_a_test_without_a_name_is_not_listed() -> None:
    unnamed = {"id": "", "outcome": "failed", "message": "x"}
    for failing, shown in (([unnamed], False), ([unnamed, {**unnamed, "id": "t.py::a"}], True)):
        evidence = result()["evidence"] | {"failing_before": failing}
        text = click.unstyle(answer(result(status="limit", patch=None, alternatives=[], evidence=evidence)))
        assert ("Failing:\n  t.py::a\n" in text) is shown
        assert "Failing:\n  \n" not in text


def test_a_failure_says_what_was_ruled_out_and_that_nothing_changed() -> None:
    text = click.unstyle(answer(result(status="limit", patch=None, alternatives=[])))
    assert "as it was" in text
    assert "7 edits (a.b 7)" in text
    assert "0.50" in text


def test_an_end_after_the_patch_was_applied_says_so() -> None:
    stopped = {"message": "stopped by SIGTERM", "hint": ""}
    text = complaint(result(status="error", error=stopped, session_id="s1"))
    assert "stopped by SIGTERM" in text
    assert "The patch is in x.py already" in text
    assert "deskagent undo s1" in text
    assert "already" not in complaint(result(status="error", error=stopped, applied=False))


def test_since_when_the_tests_fail_is_said_and_inert() -> None:
    places = [{"path": f"x{EVIL}.py", "line": 3}, {"path": "gone.py", "line": None}]
    found = {
        "last_green": {"commit": "a" * 40, "subject": "before"},
        "culprit": {"commit": "b" * 40, "subject": EVIL},
        "uncommitted": False,
        "changes": 4,
        "enough_to_take_back": places,
        "tests": [],
        "other_cause": [],
        "diff": "",
    }
    text = click.unstyle(answer(result(regression=found)))
    assert "Last green at aaaaaaaaaa 'before'; the tests fail since bbbbbbbbbb" in text
    assert "Of 4 changes since" in text and ".py:3, gone.py." in text
    found |= {"tests": ["t::one"], "other_cause": [f"t::{EVIL}two"], "diff": f"-a{EVIL}\n+b\n"}
    both = click.unstyle(answer(result(regression=found, patch=None, status="not_fixed")))
    assert (
        both.index("t::one") < both.index("another cause, and remain") < both.index("two") < both.index("+b")
    )
    assert not set(both) & set("\x1b\x07\u202e\x9b")
    assert not set(text) & set("\x1b\x07\u202e\x9b")
