from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from deskagent.repo import store, watch
from deskagent.repo.index import Index, open_index
from deskagent.repo.watch import Follower


@pytest.fixture
def root(tmp_path: Path, git: Callable[..., str]) -> Path:
    folder = tmp_path.resolve() / "followed"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "a.py").write_text("def first(): pass\n")
    return folder


@pytest.fixture
def index(root: Path) -> Iterator[Index]:
    with open_index(root) as opened:
        opened.refresh()
        yield opened


def until(condition: Callable[[], object]) -> bool:
    deadline = time.monotonic() + 60
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return bool(condition())


def test_saves_new_files_renames_and_deletions_reach_the_index(index: Index, root: Path) -> None:
    with Follower(root):
        (root / "a.py").write_text("def second(): pass\n")
        assert until(lambda: index.find("second"))
        (root / "sub").mkdir()
        (root / "sub" / "b.py").write_text("def third(): pass\n")
        assert until(lambda: index.find("third"))
        (root / "a.py").rename(root / "c.py")
        assert until(lambda: [d.path for d in index.find("second")] == ["c.py"])
        (root / "c.py").unlink()
        assert until(lambda: not index.find("second"))


def test_many_events_are_one_update(index: Index, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "_QUIET", 5.0)  # no pause between two saves is as long
    monkeypatch.setattr(watch, "_LONGEST", 5.0)
    with Follower(root) as follower:
        for number in range(20):
            (root / "a.py").write_text(f"def burst{number}(): pass\n")
        monkeypatch.setattr(watch, "_QUIET", 0.2)
        assert until(lambda: index.find("burst19"))
        assert follower.updates <= 3


def test_a_held_index_is_tried_again(index: Index, root: Path) -> None:
    with Follower(root):
        with store.writing(store.folder_of(root)):
            (root / "a.py").write_text("def patient(): pass\n")
            time.sleep(0.6)
            assert not index.find("patient")
        assert until(lambda: index.find("patient"))


def test_what_git_does_inside_its_folder_is_no_matter(index: Index, root: Path) -> None:
    with Follower(root) as follower:
        (root / ".git" / "noise").write_text("x")
        time.sleep(0.6)
        assert follower.updates == 0
