from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from deskagent.repo.walk import MAX_BYTES, walk

Git = Callable[..., str]

SEEN = ["README", "pkg/__init__.py", "pkg/core.py"]


@pytest.fixture(params=["plain", "git"])
def tree(request: pytest.FixtureRequest, project: Path, git: Git) -> Path:
    """The project, with and without git."""
    if request.param == "git":
        git(project, "init", "-q")
        git(project, "add", ".")
    return project


def test_ignored_files_are_passed_over(tree: Path) -> None:
    (tree / ".gitignore").write_text("*.log\n/build/\n!keep.log\n")
    (tree / "pkg" / ".gitignore").write_text("!again.log\nlocal.py\n")
    (tree / "build").mkdir()
    (tree / "pkg" / "build").mkdir()
    for name in (
        "x.log",
        "keep.log",
        "build/x.py",
        "pkg/again.log",
        "pkg/local.py",
        "pkg/x.log",
        "pkg/build/x.py",
    ):
        (tree / name).write_text("x")
    expected = [".gitignore", "keep.log", "pkg/.gitignore", "pkg/again.log", "pkg/build/x.py"]
    assert list(walk(tree).files) == sorted([*SEEN, *expected])


def test_binary_huge_and_special_files_are_passed_over(tree: Path) -> None:
    (tree / "data.bin").write_bytes(b"\x7fELF\0\0")
    (tree / "utf16.txt").write_bytes("text".encode("utf-16"))
    with (tree / "huge.txt").open("wb") as file:
        file.truncate(5 << 30)
    with (tree / "just.txt").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    os.mkfifo(tree / "fifo")
    found = walk(tree)
    assert list(found.files) == sorted([*SEEN, "utf16.txt"])
    assert {"data.bin", "huge.txt", "just.txt"} <= {name for name, _ in found.skipped}


def test_links_are_not_followed(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_text("secret = 1\n")
    (tree / "out.py").symlink_to(tmp_path / "outside.py")
    (tree / "up").symlink_to("..")
    (tree / "loop").symlink_to("loop")
    assert list(walk(tree).files) == SEEN


def test_environments_and_caches_are_passed_over(tree: Path) -> None:
    for folder in (".venv/lib", "my-env/lib", "node_modules/x", "pkg/__pycache__", ".tox/py/lib"):
        (tree / folder).mkdir(parents=True)
        (tree / folder / "x.py").write_text("x")
    (tree / "my-env" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    assert list(walk(tree).files) == SEEN


def test_it_is_bounded_and_says_so(tree: Path) -> None:
    for number in range(10):
        (tree / f"f{number}.py").write_text("x")
    found = walk(tree, max_files=5)
    assert len(found.files) == 5
    assert not found.complete
    assert walk(tree).complete


def test_a_deleted_tracked_file_is_no_file(repo: Path) -> None:
    (repo / "README").unlink()
    assert list(walk(repo).files) == SEEN[1:]


def test_a_project_ignored_by_the_repository_around_it_is_walked(repo: Path) -> None:
    (repo / ".gitignore").write_text("inner/\n")
    (repo / "inner").mkdir()
    (repo / "inner" / "a.py").write_text("x")
    assert list(walk(repo / "inner").files) == ["a.py"]


def test_a_gitignore_that_is_no_text_is_not_obeyed(project: Path) -> None:
    (project / ".gitignore").write_bytes(bytes(range(256)) * 10)
    assert "pkg/core.py" in walk(project).files
    (project / ".gitignore").unlink()
    os.mkfifo(project / ".gitignore")
    assert list(walk(project).files) == SEEN
