from __future__ import annotations

import os
import threading
from pathlib import Path

from deskagent.repo.removing import remove_tree


def test_modes_don_t_protect_a_tree(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "closed" / "inner").mkdir(parents=True)
    (tree / "closed" / "inner" / "file").write_text("x")
    (tree / "closed" / "inner").chmod(0)
    (tree / "closed").chmod(0o500)
    tree.chmod(0)
    remove_tree(tree)
    assert not tree.exists()


def test_links_are_deleted_and_not_followed(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("x")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "link").symlink_to(kept)
    os.mkfifo(tree / "fifo")
    remove_tree(tree)
    assert not tree.exists()
    assert (kept / "file").read_text() == "x"
    remove_tree(tree)  # gone already


def test_a_tree_deeper_than_any_path_may_be_long(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    fd = os.open(tree, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("deeper", dir_fd=fd)
        below = os.open("deeper", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=fd))
    os.close(fd)
    remove_tree(tree)
    assert not tree.exists()


def test_two_delete_the_same_tree(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    for number in range(60):
        (tree / str(number) / "x" / "y").mkdir(parents=True)
        (tree / str(number) / "x" / "file").write_text("x")
    errors: list[BaseException] = []

    def work() -> None:
        try:
            remove_tree(tree)
        except OSError as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert not tree.exists()
