"""Regressions in real repositories; each failing test is a function run in this process, so that each try is cheap."""

from __future__ import annotations

import os
import subprocess
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path

import pytest

from deskagent.errors import UsageError
from deskagent.repair.budget import Budget, Limits
from deskagent.repair.regress import suspects
from deskagent.repair.regress.find import Found, check, find
from deskagent.repair.regress.reverts import reverts
from deskagent.repair.source import SourceFile
from deskagent.repair.types import Baseline, Candidate, Outcome, Status, Suspect, TestResult, Verdict

SHOP = """\
RATES = {"book": 7, "tool": 19}


def tax(kind, net):
    rate = RATES[kind]
    return round(net * rate / 100)


def total(items):
    result = 0
    for kind, net in items:
        result += net + tax(kind, net)
    return result
"""
BAD = SHOP.replace("net * rate / 100", "net * rate / 10")


class Repo:
    """A repository at `folder` whose tests are functions: they get a function that loads a module of the tree."""

    def __init__(self, folder: Path, *checks: Callable[[Callable[[str], dict]], None]) -> None:
        self.folder, self._checks = folder, checks
        self.runs = 0
        folder.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str) -> str:
        env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        command = [
            "git",
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@x",
            "-c",
            "protocol.file.allow=always",
            *words,
        ]
        return subprocess.run(
            command, cwd=self.folder, check=True, capture_output=True, text=True, env=env
        ).stdout.strip()

    def write(self, **files: str | None) -> None:
        for name, text in files.items():
            path = self.folder / f"{name.replace('__', '/')}.py"
            if text is None:
                path.unlink()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(text.encode())

    def commit(self, subject: str, **files: str | None) -> str:
        self.write(**files)
        self.git("add", "-A")
        self.git("commit", "-qm", subject, "--allow-empty")
        return self.git("rev-parse", "HEAD")

    def tree(self) -> dict[str, bytes]:
        paths = (p for p in self.folder.rglob("*.py") if ".git" not in p.parts)
        return {p.relative_to(self.folder).as_posix(): p.read_bytes() for p in paths}

    def run(self, files: Mapping[str, bytes | None], names: tuple[str, ...] = ()) -> Verdict:
        self.runs += 1
        tree: dict[str, bytes | None] = {**self.tree(), **files}

        def load(path: str) -> dict:
            data = tree.get(path)
            if data is None:
                raise ImportError(f"no {path}")
            space: dict = {}
            exec(compile(data, path, "exec"), space)
            return space

        wanted = {f"test_shop.py::{check.__name__}": check for check in self._checks}
        results = tuple(_result(name, wanted[name], load) for name in names or wanted)
        if any(result.outcome is Outcome.ERROR for result in results):
            return Verdict(Status.BROKEN, results)
        return Verdict(Status.RED if any(r.outcome.bad for r in results) else Status.GREEN, results)

    def probe(self, files: Mapping[str, bytes | None], names: tuple[str, ...] = ()) -> Future[Verdict]:
        future: Future[Verdict] = Future()
        future.set_result(self.run(files, names))
        return future

    def baseline(self) -> Baseline:
        return Baseline(self.run({}).results, {}, 0.1)

    def find(self, since: str = "auto", seconds: float = 120.0) -> Found:
        check(self.folder, since)
        before = self.tree()
        found = find(
            self.folder,
            since,
            baseline=self.baseline(),
            probe=self.probe,
            budget=Budget(Limits(seconds=seconds)),
        )
        assert self.tree() == before
        return found

    def patched(self, found: Found) -> list[tuple[str, str, dict[str, bytes]]]:
        """(operator, note, contents of the files it edits) of the candidates."""
        assert found.regression is not None

        def read(path: str) -> SourceFile:
            return SourceFile.read(self.folder, path)

        def files(candidate: Candidate) -> dict[str, bytes]:
            paths = {edit.path for edit in candidate.edits}
            return {p: read(p).apply([e for e in candidate.edits if e.path == p]) for p in paths}

        return [(c.operator, c.note, files(c)) for c in reverts(found.regression, read)]


def _result(name: str, check: Callable[[Callable[[str], dict]], None], load) -> TestResult:
    try:
        check(load)
    except Exception as error:
        outcome = Outcome.ERROR if isinstance(error, ImportError | SyntaxError) else Outcome.FAILED
        return TestResult(name, outcome, message="".join(traceback.format_exception_only(error)))
    return TestResult(name, Outcome.PASSED)


def shop_test(load: Callable[[str], dict]) -> None:
    got = load("shop.py")["total"]([("book", 100)])
    assert got == 107, f"assert {got} == 107"


@pytest.fixture
def repo(tmp_path: Path) -> Callable[..., Repo]:
    def make(*checks: Callable[[Callable[[str], dict]], None]) -> Repo:
        return Repo(tmp_path / "project", *(checks or (shop_test,)))

    return make


def history(repo: Repo, guilty: int, count: int) -> list[str]:
    """`count` commits, of which number `guilty` brings the bug among other changes."""
    ids = []
    for number in range(count):
        more: dict[str, str | None] = {"notes": f"N = {number}\n"}
        if number == 0:
            more["shop"] = SHOP
        if number == guilty:
            more["shop"] = (
                BAD.replace("result = 0", "result = 0 + 0") + "\n\ndef rebate(net):\n    return net // 10\n"
            )
        ids.append(repo.commit(f"number {number}", **more))
    return ids


@pytest.mark.parametrize(("guilty", "count"), [(1, 2), (3, 12), (11, 30)])
def test_the_guilty_commit_and_the_fewest_words_of_it(repo, guilty: int, count: int) -> None:
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


def test_a_new_test_is_laid_over_the_old_sources(repo) -> None:
    project = repo(lambda load: (load("tests/helper.py"), shop_test(load))[1])
    ids = history(project, 3, 6)
    project.commit("a test", tests__helper="X = 1\n")
    regression = project.find().regression
    assert regression and regression.culprit and regression.culprit.id == ids[3]


def test_what_is_not_committed_is_guilty(repo) -> None:
    project = repo()
    ids = history(project, -1, 4)
    project.write(shop=BAD.replace('"tool": 19', '"tool": 20'))
    found = project.find()
    regression = found.regression
    assert regression and regression.uncommitted and regression.culprit is None
    assert regression.green.id == ids[-1] and [p.where for p in regression.lines] == ["shop.py:6"]
    assert project.patched(found)[0][2]["shop.py"].decode() == SHOP.replace('"tool": 19', '"tool": 20')


def test_a_dirty_tree_with_an_older_bug(repo) -> None:
    project = repo()
    ids = history(project, 2, 5)
    project.write(shop=(project.folder / "shop.py").read_text() + "\n\nEXTRA = 1\n")
    regression = project.find().regression
    assert regression and not regression.uncommitted and regression.culprit
    assert regression.culprit.id == ids[2] and [p.where for p in regression.lines] == ["shop.py:6"]


def test_commits_that_cannot_be_run_are_passed_over(repo) -> None:
    project = repo()
    ids = [project.commit("start", shop=SHOP)]
    ids += [project.commit(f"broken {n}", shop=f"import (\n{n}") for n in range(3)]
    ids += [project.commit(f"bad {n}", shop=BAD, notes=f"{n}\n") for n in range(3)]
    found = project.find()
    regression = found.regression
    assert regression and regression.green.id == ids[0] and regression.culprit is None
    assert {c.id for c in regression.between} == set(ids[1:4])
    assert "can't be told" in found.notices[0] and regression.lines[0].where == "shop.py:6"


def test_the_guilty_commit_of_a_merged_branch(repo) -> None:
    project = repo()
    project.commit("start", shop=SHOP, other="A = 1\n")
    project.git("checkout", "-qb", "side")
    inner = [
        project.commit("side 0", side="0\n"),
        project.commit("side 1", shop=BAD),
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


def test_a_change_in_a_file_that_was_renamed(repo) -> None:
    def either(load: Callable[[str], dict]) -> None:
        try:
            shop = load("store.py")
        except ImportError:
            shop = load("shop.py")
        got = shop["total"]([("book", 100)])
        assert got == 107, f"assert {got} == 107"

    project = repo(either)
    project.commit("start", shop=SHOP)
    guilty = project.commit("rename", shop=None, store=BAD.replace("result = 0", "result = 0.0"))
    project.commit("later", notes="1\n")
    found = project.find()
    assert found.regression and found.regression.culprit and found.regression.culprit.id == guilty
    assert [p.where for p in found.regression.lines] == ["store.py:6"]
    assert b"net * rate / 100" in project.patched(found)[0][2]["store.py"]


def test_a_file_that_went_is_named_though_no_edit_brings_it_back(repo) -> None:
    project = repo(lambda load: (load("rates.py"), shop_test(load))[1])
    project.commit("start", shop=SHOP, rates="R = 1\n")
    guilty = project.commit("tidy", rates=None, shop=SHOP + "\nX = 1\n")
    found = project.find()
    assert found.regression and found.regression.culprit and found.regression.culprit.id == guilty
    assert [p.where for p in found.regression.pieces] == ["rates.py"] and "rates.py" in found.notices[1]
    assert all("rates.py" not in files for _, _, files in project.patched(found))


def test_several_changes_that_are_wrong_together(repo) -> None:
    project = repo()
    project.commit("start", shop=SHOP)
    bad = SHOP.replace('"book": 7', '"book": 8').replace("result = 0", "result = 1")
    project.commit("both", shop=bad.replace('"tool": 19', '"tool": 20') + "\nX = 1\n")
    found = project.find()
    assert found.regression and [p.where for p in found.regression.lines] == ["shop.py:1", "shop.py:10"]
    assert found.regression.minimal
    first = project.patched(found)[0][2]["shop.py"].decode()
    assert '"book": 7' in first and "result = 0" in first and "X = 1" in first


def test_line_ends_stay_as_they_are_now(repo) -> None:
    project = repo()
    project.commit("start", shop=SHOP)
    project.commit("windows", shop=SHOP.replace("\n", "\r\n"))
    project.commit("bug", shop=BAD.replace("\n", "\r\n"))
    found = project.find()
    (_, _, files), *_ = project.patched(found)
    assert files["shop.py"] == SHOP.replace("\n", "\r\n").encode()


def test_a_named_commit_has_to_exist_and_to_be_green(repo) -> None:
    project = repo()
    ids = history(project, 2, 5)
    regression = project.find(ids[0]).regression
    assert regression and regression.culprit and regression.culprit.id == ids[2]
    project.git("tag", "good", ids[1])
    assert project.find("good").regression
    for wrong, said in (("nope", "names no commit"), (ids[3], "fail too"), ("HEAD", "fail too")):
        with pytest.raises(UsageError, match=said):
            project.find(wrong)


def test_a_named_commit_of_another_branch(repo) -> None:
    project = repo()
    project.commit("start", notes="1\n")
    project.git("checkout", "-qb", "old")
    old = project.commit("old line", shop=SHOP)
    project.git("checkout", "-q", "main")
    project.commit("new line", shop=BAD)
    regression = project.find("old").regression
    assert regression and regression.green.id == old and [p.where for p in regression.lines] == ["shop.py:6"]


def never(load: Callable[[str], dict]) -> None:
    assert load("shop.py")["total"]([("book", 0), ("book", 0)]) == 1, "assert 0 == 1"


def later(load: Callable[[str], dict]) -> None:
    assert load("notes.py")["N"] < 5, "assert 5 < 5"


@pytest.mark.parametrize("since", ["auto", "start"])
@pytest.mark.parametrize("order", [(never, shop_test), (shop_test, never), (shop_test, never, later)])
def test_one_of_two_causes_is_found_and_the_other_named(repo, order, since: str) -> None:
    project = repo(*order)
    ids = history(project, 3, 7)
    project.git("tag", "start", ids[0])
    found = project.find(since)
    regression = found.regression
    assert regression and regression.culprit and regression.culprit.id == ids[3]
    assert regression.tests == ("test_shop.py::shop_test",)
    assert set(regression.apart) == {f"test_shop.py::{t.__name__}" for t in order if t is not shop_test}
    assert [piece.where for piece in regression.lines] == ["shop.py:6"]
    said = " ".join(found.notices)
    assert "Another cause is behind" in said and all(name in said for name in regression.apart)
    _, _, files = project.patched(found)[0]
    assert project.run(files, regression.tests).status is Status.GREEN
    assert project.run(files).status is Status.RED


def test_two_regressions_one_after_the_other_are_taken_back_together(repo) -> None:
    project = repo(shop_test, later)
    history(project, 3, 7)
    found = project.find()
    assert found.regression and found.regression.apart == ()
    _, _, files = project.patched(found)[0]
    assert set(files) == {"shop.py", "notes.py"} and project.run(files).status is Status.GREEN


def test_no_failing_test_has_ever_passed(repo) -> None:
    project = repo(never, lambda load: never(load))
    history(project, -1, 4)
    assert project.find().regression is None
    with pytest.raises(UsageError, match="fail too"):
        project.find("HEAD~2")


def test_where_there_is_nothing_to_find_it_is_said(repo, tmp_path: Path) -> None:
    project = repo()
    found = project.find()
    assert found.regression is None and "no commit" in found.notices[0]
    project.commit("always bad", shop=BAD)
    assert "the only commit" in project.find().notices[0]
    project.commit("still bad", shop=BAD + "\n")
    assert "last 2 commits" in project.find().notices[0]
    project.git("clone", "-q", "--depth", "1", f"file://{project.folder}", str(tmp_path / "clone"))
    project.folder = tmp_path / "clone"
    assert "shallow" in project.find().notices[0]
    with pytest.raises(UsageError, match="not in a git repository"):
        check(tmp_path, "HEAD")


def test_no_time_is_said(repo) -> None:
    project = repo()
    history(project, 2, 5)
    found = project.find(seconds=0.0)
    assert found.regression is None and "time" in found.notices[0]


def test_links_and_submodules_stay_and_are_named(repo, tmp_path: Path) -> None:
    project = repo()
    other = Repo(tmp_path / "other", shop_test)
    one, two = other.commit("one", x="1\n"), other.commit("two", x="2\n")
    project.commit("start", shop=SHOP)
    (project.folder / "link").symlink_to("shop.py")
    project.git("submodule", "add", "-q", str(other.folder), "sub")
    subprocess.run(["git", "checkout", "-q", one], cwd=project.folder / "sub", check=True)
    project.commit("with")
    (project.folder / "link").unlink()
    (project.folder / "link").symlink_to("other")
    subprocess.run(["git", "checkout", "-q", two], cwd=project.folder / "sub", check=True)
    guilty = project.commit("bug", shop=BAD)
    found = project.find()
    assert found.regression and found.regression.culprit and found.regression.culprit.id == guilty
    assert "link (" in found.notices[-1] and "sub (" in found.notices[-1]


def test_first_suspects_and_lately_changed_ones(repo) -> None:
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
