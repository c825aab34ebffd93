"""Regressions with more than one cause, or none that a commit brought."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from deskagent.errors import UsageError
from deskagent.repair.types import Status


def test_several_changes_that_are_wrong_together(repo, shop) -> None:
    project = repo()
    project.commit("start", shop=shop)
    bad = shop.replace('"book": 7', '"book": 8').replace("result = 0", "result = 1")
    project.commit("both", shop=bad.replace('"tool": 19', '"tool": 20') + "\nX = 1\n")
    found = project.find()
    assert found.regression and [p.where for p in found.regression.lines] == ["shop.py:1", "shop.py:10"]
    assert found.regression.minimal
    first = project.patched(found)[0][2]["shop.py"].decode()
    assert '"book": 7' in first and "result = 0" in first and "X = 1" in first


def never(load: Callable[[str], dict]) -> None:
    assert load("shop.py")["total"]([("book", 0), ("book", 0)]) == 1, "assert 0 == 1"


def later(load: Callable[[str], dict]) -> None:
    assert load("notes.py")["N"] < 5, "assert 5 < 5"


@pytest.mark.parametrize("since", ["auto", "start"])
@pytest.mark.parametrize("order", [(never, None), (None, never), (None, never, later)])
def test_one_of_two_causes_is_found_and_the_other_named(repo, order, since: str, history, shop_test) -> None:
    checks = [check or shop_test for check in order]
    project = repo(*checks)
    ids = history(project, 3, 7)
    project.git("tag", "start", ids[0])
    found = project.find(since)
    regression = found.regression
    assert regression and regression.culprit and regression.culprit.id == ids[3]
    assert regression.tests == (f"test_shop.py::{shop_test.__name__}",)
    assert set(regression.apart) == {f"test_shop.py::{t.__name__}" for t in checks if t is not shop_test}
    assert [piece.where for piece in regression.lines] == ["shop.py:6"]
    said = " ".join(found.notices)
    assert "Another cause is behind" in said and all(name in said for name in regression.apart)
    _, _, files = project.patched(found)[0]
    assert project.run(files, regression.tests).status is Status.GREEN
    assert project.run(files).status is Status.RED


def test_two_regressions_one_after_the_other_are_taken_back_together(repo, history, shop_test) -> None:
    project = repo(shop_test, later)
    history(project, 3, 7)
    found = project.find()
    assert found.regression and found.regression.apart == ()
    _, _, files = project.patched(found)[0]
    assert set(files) == {"shop.py", "notes.py"} and project.run(files).status is Status.GREEN


def test_no_failing_test_has_ever_passed(repo, history) -> None:
    project = repo(never, lambda load: never(load))
    history(project, -1, 4)
    assert project.find().regression is None
    with pytest.raises(UsageError, match="fail too"):
        project.find("HEAD~2")
