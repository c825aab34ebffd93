"""What a search for a regression says, and what it makes of the suspects."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from deskagent.errors import UsageError
from deskagent.repair.regress import suspects
from deskagent.repair.regress.find import check
from deskagent.repair.types import Suspect


def test_a_named_commit_has_to_exist_and_to_be_green(repo, history) -> None:
    project = repo()
    ids = history(project, 2, 5)
    regression = project.find(ids[0]).regression
    assert regression and regression.culprit and regression.culprit.id == ids[2]
    project.git("tag", "good", ids[1])
    assert project.find("good").regression
    for wrong, said in (("nope", "names no commit"), (ids[3], "fail too"), ("HEAD", "fail too")):
        with pytest.raises(UsageError, match=said):
            project.find(wrong)


def test_a_named_commit_of_another_branch(repo, shop, bad) -> None:
    project = repo()
    project.commit("start", notes="1\n")
    project.git("checkout", "-qb", "old")
    old = project.commit("old line", shop=shop)
    project.git("checkout", "-q", "main")
    project.commit("new line", shop=bad)
    regression = project.find("old").regression
    assert regression and regression.green.id == old and [p.where for p in regression.lines] == ["shop.py:6"]


def test_where_there_is_nothing_to_find_it_is_said(repo, tmp_path: Path, bad) -> None:
    project = repo()
    found = project.find()
    assert found.regression is None and "no commit" in found.notices[0]
    project.commit("always bad", shop=bad)
    assert "the only commit" in project.find().notices[0]
    project.commit("still bad", shop=bad + "\n")
    assert "last 2 commits" in project.find().notices[0]
    project.git("clone", "-q", "--depth", "1", f"file://{project.folder}", str(tmp_path / "clone"))
    project.folder = tmp_path / "clone"
    assert "shallow" in project.find().notices[0]
    with pytest.raises(UsageError, match="not in a git repository"):
        check(tmp_path, "HEAD")


def test_no_time_is_said(repo, history) -> None:
    project = repo()
    history(project, 2, 5)
    found = project.find(seconds=0.0)
    assert found.regression is None and "time" in found.notices[0]


def test_links_and_submodules_stay_and_are_named(repo, tmp_path: Path, shop, bad) -> None:
    project = repo()
    other = repo(name="other")
    one, two = other.commit("one", x="1\n"), other.commit("two", x="2\n")
    project.commit("start", shop=shop)
    (project.folder / "link").symlink_to("shop.py")
    project.git("submodule", "add", "-q", str(other.folder), "sub")
    subprocess.run(["git", "checkout", "-q", one], cwd=project.folder / "sub", check=True)
    project.commit("with")
    (project.folder / "link").unlink()
    (project.folder / "link").symlink_to("other")
    subprocess.run(["git", "checkout", "-q", two], cwd=project.folder / "sub", check=True)
    guilty = project.commit("bug", shop=bad)
    found = project.find()
    assert found.regression and found.regression.culprit and found.regression.culprit.id == guilty
    assert "link (" in found.notices[-1] and "sub (" in found.notices[-1]


def test_first_suspects_and_lately_changed_ones(repo, history) -> None:
    project = repo()
    history(project, 3, 14)
    known = tuple(
        Suspect("shop.py", line, score, ("run",)) for line, score in ((10, 1.0), (12, 0.9), (6, 0.2))
    )
    found = project.find()
    assert found.regression
    first, second, *_ = suspects.first_suspects(known, found.regression)
    assert (
        (first.path, first.line) == ("shop.py", 6)
        and "number 3" in first.reasons[0]
        and first.reasons[-1] == "run"
    )
    assert second.line == 10 and "changed in" in second.reasons[0]  # of the same commit, but not to blame
    text = (project.folder / "shop.py").read_text()
    assert suspects.changed_lately(project.folder, known) == known  # untouched by the last ten
    project.write(shop=text.replace("for kind, net", "for kind , net"))
    project.write(shop=text.replace("result += net +", "result += 1 * net +"))
    lately = suspects.changed_lately(project.folder, known)
    assert lately[0].line == 12 and "not committed yet" in lately[0].reasons and lately[0].score == 1.0
    assert suspects.changed_lately(project.folder.parent, known) == known
