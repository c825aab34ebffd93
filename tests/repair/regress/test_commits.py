"""The guilty commit in histories of every shape."""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.mark.parametrize(("guilty", "count"), [(1, 2), (3, 12), (11, 30)])
def test_the_guilty_commit_and_the_fewest_words_of_it(repo, guilty: int, count: int, history) -> None:
    project = repo()
    ids = history(project, guilty, count)
    found = project.find()
    regression = found.regression
    assert regression and regression.culprit and regression.minimal
    assert regression.culprit.id == ids[guilty] and regression.green.id == ids[guilty - 1]
    assert [piece.where for piece in regression.lines] == ["shop.py:6"]
    assert f"fail since {ids[guilty][:7]}" in found.notices[0]
    operator, note, files = project.patched(found)[0]
    mended = files["shop.py"].decode()
    assert operator == "revert.word" and "10 → 100" in note and f"number {guilty}" in note
    assert "net * rate / 100" in mended and "def rebate" in mended and "0 + 0" in mended
    assert found.runs <= 45


def test_a_new_test_is_laid_over_the_old_sources(repo, history, shop_test) -> None:
    project = repo(lambda load: (load("tests/helper.py"), shop_test(load))[1])
    ids = history(project, 3, 6)
    project.commit("a test", tests__helper="X = 1\n")
    regression = project.find().regression
    assert regression and regression.culprit and regression.culprit.id == ids[3]


def test_what_is_not_committed_is_guilty(repo, shop, history, bad) -> None:
    project = repo()
    ids = history(project, -1, 4)
    project.write(shop=bad.replace('"tool": 19', '"tool": 20'))
    found = project.find()
    regression = found.regression
    assert regression and regression.uncommitted and regression.culprit is None
    assert regression.green.id == ids[-1] and [p.where for p in regression.lines] == ["shop.py:6"]
    assert project.patched(found)[0][2]["shop.py"].decode() == shop.replace('"tool": 19', '"tool": 20')


def test_a_dirty_tree_with_an_older_bug(repo, history) -> None:
    project = repo()
    ids = history(project, 2, 5)
    project.write(shop=(project.folder / "shop.py").read_text() + "\n\nEXTRA = 1\n")
    regression = project.find().regression
    assert regression and not regression.uncommitted and regression.culprit
    assert regression.culprit.id == ids[2] and [p.where for p in regression.lines] == ["shop.py:6"]


def test_commits_that_cannot_be_run_are_passed_over(repo, shop, bad) -> None:
    project = repo()
    ids = [project.commit("start", shop=shop)]
    ids += [project.commit(f"broken {n}", shop=f"import (\n{n}") for n in range(3)]
    ids += [project.commit(f"bad {n}", shop=bad, notes=f"{n}\n") for n in range(3)]
    found = project.find()
    regression = found.regression
    assert regression and regression.green.id == ids[0] and regression.culprit is None
    assert {c.id for c in regression.between} == set(ids[1:4])
    assert "can't be told" in found.notices[0] and regression.lines[0].where == "shop.py:6"


def test_the_guilty_commit_of_a_merged_branch(repo, shop, bad) -> None:
    project = repo()
    project.commit("start", shop=shop, other="A = 1\n")
    project.git("checkout", "-qb", "side")
    inner = [
        project.commit("side 0", side="0\n"),
        project.commit("side 1", shop=bad),
        project.commit("side 2", side="2\n"),
    ]
    project.git("checkout", "-q", "main")
    project.commit("main 1", other="A = 2\n")
    project.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    project.commit("after", other="A = 3\n")
    regression = project.find().regression
    assert regression and regression.culprit and regression.culprit.id == inner[1]
    assert [p.where for p in regression.lines] == ["shop.py:6"]


def test_a_merge_that_is_guilty_itself(repo) -> None:
    def both(load: Callable[[str], dict]) -> None:
        assert load("one.py")["A"] + load("two.py")["B"] < 3, "assert 3 < 3"

    project = repo(both)
    project.commit("start", one="A = 0\n", two="B = 0\n")
    project.git("checkout", "-qb", "side")
    project.commit("side", two="B = 2\n")
    project.git("checkout", "-q", "main")
    project.commit("main", one="A = 1\n")
    project.git("merge", "-q", "--no-ff", "-m", "together", "side")
    merge = project.git("rev-parse", "HEAD")
    regression = project.find().regression
    assert regression and regression.culprit and regression.culprit.id == merge
    assert [p.where for p in regression.lines] == ["two.py:1"]


def test_a_change_in_a_file_that_was_renamed(repo, shop, bad) -> None:
    def either(load: Callable[[str], dict]) -> None:
        try:
            shop = load("store.py")
        except ImportError:
            shop = load("shop.py")
        got = shop["total"]([("book", 100)])
        assert got == 107, f"assert {got} == 107"

    project = repo(either)
    project.commit("start", shop=shop)
    guilty = project.commit("rename", shop=None, store=bad.replace("result = 0", "result = 0.0"))
    project.commit("later", notes="1\n")
    found = project.find()
    assert found.regression and found.regression.culprit and found.regression.culprit.id == guilty
    assert [p.where for p in found.regression.lines] == ["store.py:6"]
    assert b"net * rate / 100" in project.patched(found)[0][2]["store.py"]


def test_a_file_that_went_is_named_though_no_edit_brings_it_back(repo, shop, shop_test) -> None:
    project = repo(lambda load: (load("rates.py"), shop_test(load))[1])
    project.commit("start", shop=shop, rates="R = 1\n")
    guilty = project.commit("tidy", rates=None, shop=shop + "\nX = 1\n")
    found = project.find()
    assert found.regression and found.regression.culprit and found.regression.culprit.id == guilty
    assert [p.where for p in found.regression.pieces] == ["rates.py"] and "rates.py" in found.notices[1]
    assert all("rates.py" not in files for _, _, files in project.patched(found))


def test_line_ends_stay_as_they_are_now(repo, shop, bad) -> None:
    project = repo()
    project.commit("start", shop=shop)
    project.commit("windows", shop=shop.replace("\n", "\r\n"))
    project.commit("bug", shop=bad.replace("\n", "\r\n"))
    found = project.find()
    (_, _, files), *_ = project.patched(found)
    assert files["shop.py"] == shop.replace("\n", "\r\n").encode()
