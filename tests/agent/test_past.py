from __future__ import annotations

from pathlib import Path

import pytest

from deskagent.agent import past, resume, which
from deskagent.agent.past import standing
from deskagent.agent.permissions import Mode
from deskagent.agent.request import FixOptions
from deskagent.errors import UsageError
from deskagent.session import events as e
from deskagent.session.journal import Journal

RED = e.Trial("k1", "compare", "a.py", 1, "< → <=", "red")
GREEN = e.Trial("k2", "compare", "a.py", 1, "< → >", "green")
EDIT = e.TextEdit("a.py", 0, 1, "x")
TREE = e.TreeRecorded(digest="d1", manifest="m" * 64)


def observed(stage: str, *, green: bool, patch: str = "", line: str = "pytest") -> e.TestsObserved:
    return e.TestsObserved(
        runner="pytest", command=line, failing=0, passing=1, stage=stage, green=green, patch=patch
    )


FIRST_RUN = (
    e.SessionStarted("1", "/work", time=100.0),
    e.Request("repair", time=100.0),
    observed("observe", green=False),
    TREE,
    e.StepStarted(id="s", step="code_patch", tier="low", state="act", time=110.0),
    e.CandidatesTried((RED, GREEN), time=115.0),
    e.PatchFound(key="k2", diff="", edits=(EDIT,), prior=0.5, time=115.0),
)


@pytest.fixture
def read(project: Path):
    """What is made of a journal that holds these events alone."""

    def make(*written: e.Event) -> past.Past:
        reading = past.Reading(past.Past("x"))
        for number, event in enumerate(written, 1):
            reading.take(event, number)
        reading.end_run()
        return reading.past

    return make


def test_a_killed_run_has_spent_something(read):
    found = read(*FIRST_RUN)
    assert (found.spent, found.seconds, found.searching) == (2, 15.0, 5.0)
    again = (
        e.SessionStarted("1", "/work", resumed=True, time=900.0),
        e.StepStarted(id="s", step="code_patch", tier="low", state="act", time=910.0),
        e.StepEnded(id="s", seconds=5, time=915.0),
        e.Notice("info", "", time=917.0),
    )
    found = read(*FIRST_RUN, *again)
    assert (found.spent, found.seconds, found.searching) == (2, 32.0, 10.0)


@pytest.mark.parametrize(
    ("status", "counts"), [("limit", False), ("not_fixed", False), ("fixed", False), ("error", True)]
)
def test_a_run_that_came_to_its_end_leaves_new_limits(read, status, counts):
    found = read(*FIRST_RUN, e.SessionEnded(status=status, exit_code=1, time=116.0))
    assert (found.spent > 0, found.seconds > 0) == (counts, counts)


def test_outcomes_hold_for_their_tree_and_command(read, recorder):
    blobs = recorder.journal.blobs
    found = read(*FIRST_RUN)
    same = resume.reuse(found, TREE, "pytest", blobs)
    assert (same.red, [c.key for c in same.green]) == ((RED,), ["k2"])
    assert "1 candidate that failed is not tried again; 1 that passed is checked again" in same.notice
    for tree, line, why in (
        (TREE, "pytest -x", "command"),
        (e.TreeRecorded(digest="d2", manifest=""), "pytest", "changed since"),
        ("the disk is full", "pytest", "disk is full"),
    ):
        other = resume.reuse(found, tree, line, blobs)
        assert (other.red, other.green) == ((), ()) and why in other.notice


def test_a_patch_that_the_exact_command_refuted_is_not_tried_again(read, recorder):
    found = read(*FIRST_RUN, observed("verify", green=False, patch="k2"))
    again = resume.reuse(found, TREE, "pytest", recorder.journal.blobs)
    assert {t.key for t in again.red} == {"k1", "k2"} and not again.green
    assert found.proof is None


def test_a_green_trial_whose_patch_was_not_saved_is_tried_again(read, recorder):
    again = resume.reuse(read(*FIRST_RUN[:-1]), TREE, "pytest", recorder.journal.blobs)
    assert again.red == (RED,) and not again.green


def test_the_proof_keeps_what_belongs_together(read):
    proved = (observed("verify", green=True, patch="k2"), e.StateChanged("verify", "done", "proved"))
    found = read(*FIRST_RUN, *proved, e.SessionStarted("1", "/work"), observed("observe", green=True))
    assert found.proof is not None
    assert (found.proof.patch.key, found.proof.before.tests.green, found.proof.tree) == ("k2", False, TREE)


def change(name: str, *undoes: str, ok: bool | None = True) -> past.Change:
    intent = e.ApplyIntent(id=name, files=(), purpose="undo" if undoes else "apply", undoes=undoes)
    return past.Change(intent, None if ok is None else e.ApplyResult(id=name, ok=ok), 1)


def test_what_holds_of_changes_and_undos():
    def names(*changes):
        return [c.intent.id for c in standing(list(changes))]

    assert names(change("a"), change("b", ok=False), change("c", ok=None)) == ["a"]
    assert names(change("a"), change("u", "a")) == ["u"]
    assert names(change("a"), change("u", "a"), change("v", "u")) == ["a", "v"]
    assert names(change("a"), change("u", "a"), change("v", "u"), change("w", "a")) == ["v", "w"]


OPTIONS = FixOptions("", Path("/work"), {}, (), None, "auto", None, None, (), True, Mode.ASK)


def test_options_that_are_not_given_are_as_they_were():
    before = FixOptions(
        "repair", Path("/work/sub"), {"SECRET": "x"}, (), "pytest", "high", 9.5, 7, ("a*",), False, Mode.AUTO
    )
    request = e.Request(text="repair", options=before.as_dict())
    assert "env" not in request.options
    on = OPTIONS.going_on(request)
    assert on.as_dict() == before.as_dict() and on.new_limits is False
    given = FixOptions(
        "", Path("/work"), {}, (), "make test", "auto", 60.0, None, (), True, Mode.ASK,
        given=frozenset({"test", "max_seconds"}),
    )  # fmt: skip
    on = given.going_on(request)
    assert (on.test, on.start, on.max_seconds, on.effort) == ("make test", Path("/work"), 60.0, "high")
    assert on.new_limits is True and on.request == "repair"


def test_options_that_make_no_sense():
    with pytest.raises(UsageError, match="can't be read"):
        OPTIONS.going_on(e.Request(text="x", options={"effort": 5}))


def test_the_latest_session_is_one_that_asked_for_something(project, tmp_path):
    with pytest.raises(UsageError, match="no session"):
        which.find("", project)
    with Journal.create(project) as first:
        first.append(e.Request("one"))
    with Journal.create(project):
        pass
    with Journal.create(project / "inner") as inner:
        inner.append(e.Request("other"))
    assert which.find("", project) == first.path
    assert which.find(inner.id[:-2], project) == inner.path
