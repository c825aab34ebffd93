"""Readers and builders at once, builders that die, databases that are damaged."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from deskagent.errors import TransientError, UsageError
from deskagent.repo import background, store
from deskagent.repo.index import Index, State, open_index
from deskagent.repo.indexing import Writer


def test_a_reader_sees_what_is_there_while_the_index_is_built(root: Path) -> None:
    for number in range(40):
        (root / f"m{number}.py").write_text(f"def f{number}(): pass\n")
    with open_index(root) as index:
        assert index.status().state is State.ABSENT
        assert index.find("f1") == []
        assert index.map(100) == ""
        outcome = index.refresh(seconds=-1.0)
        assert not outcome.finished
        status = index.status()
        assert (status.state, status.files, status.listed) == (State.PARTIAL, 0, 44)
        assert index.refresh().finished
        assert index.status().state is State.READY
        assert index.find("f39")


def test_one_writer_at_a_time_and_readers_go_on(index: Index, root: Path) -> None:
    with store.writing(store.folder_of(root)):
        with open_index(root) as other:
            with pytest.raises(store.Locked):
                other.refresh()
            assert other.find("Cart")
            assert other.status().updating
        assert not background.start(root)
    assert not index.status().updating


def test_a_reader_is_not_held_up_by_an_open_transaction(index: Index, root: Path) -> None:
    path = store.current(store.folder_of(root))
    assert path is not None
    writer = sqlite3.connect(path, isolation_level=None)
    try:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DELETE FROM definition")
        started = time.monotonic()
        assert index.find("Cart")
        assert time.monotonic() - started < 30  # a lock is waited for until an error
    finally:
        writer.close()


@pytest.mark.parametrize("damage", ["garbage", "cut", "empty", "version", "pages", "pointer"])
def test_a_damaged_or_foreign_database_is_built_anew(root: Path, damage: str) -> None:
    with open_index(root) as index:
        index.refresh()
        path = store.current(store.folder_of(root))
    assert path is not None
    if damage == "garbage":
        path.write_bytes(b"no database at all" * 100)
    elif damage == "cut":
        os.truncate(path, path.stat().st_size // 3)
    elif damage == "empty":
        os.truncate(path, 0)
    elif damage == "pages":
        data = path.read_bytes()
        path.write_bytes(data[:8192] + bytes(len(data) - 8192))
    elif damage == "pointer":
        (path.parent / "current").write_bytes(b"\xff../../etc/passwd\n")
    else:
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA user_version = 999")
        connection.close()
    with open_index(root) as index:
        for _ in range(3):
            index.find("Cart")
            index.references("price_of")
            index.search_text("checkout")
            try:
                index.refresh()
            except TransientError:
                continue
        assert [d.path for d in index.find("Cart")] == ["pkg/cart.py"]
        assert index.references("price_of")


def test_a_reader_follows_a_rebuild(index: Index, root: Path) -> None:
    store.forget(store.folder_of(root))
    with Writer(root) as writer:
        writer.refresh()
    assert index.find("Cart")
    assert len(list(store.folder_of(root).glob("*.db"))) == 1


_DYING = """
import os, signal, sys
from pathlib import Path
from deskagent.repo import background, contents
from deskagent.repo.indexing import Writer
extract = contents.extract
def crash(data, language):
    if b"class Cart" in data:
        os.kill(os.getpid(), signal.SIGSEGV)
    return extract(data, language)
contents.extract = crash
root = Path(sys.argv[1])
"""


def _without_cart(root: Path) -> None:
    with open_index(root) as index:
        assert index.find("checkout")
        assert index.find("Cart") == []
        assert index.status().garbled == 1
        assert [r.path for r in index.search_text('"class Cart"')] == ["pkg/cart.py"]


def test_content_that_ended_two_processes_is_left_out(root: Path) -> None:
    for expected in (-signal.SIGSEGV, -signal.SIGSEGV, 0):
        run = subprocess.run(
            [sys.executable, "-c", f"{_DYING}Writer(root).refresh()", root],
            capture_output=True,
            timeout=240,
            check=False,
        )
        assert run.returncode == expected, run.stderr
    _without_cart(root)


def test_the_background_builder_outlives_a_grammar_that_crashes(root: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", f"{_DYING}sys.exit(background.main(root))", root],
        capture_output=True,
        timeout=240,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    _without_cart(root)


def test_a_builder_that_is_killed_leaves_an_index_that_goes_on(root: Path) -> None:
    for number in range(120):
        (root / f"m{number}.py").write_text("\n".join(f"def f{number}_{k}(): pass" for k in range(40)))
    build = (
        "import sys; from pathlib import Path; from deskagent.repo.indexing import Writer;"
        "Writer(Path(sys.argv[1])).refresh()"
    )
    for wait in (0.4, 0.7):
        process = subprocess.Popen([sys.executable, "-c", build, root])
        time.sleep(wait)
        process.kill()
        process.wait()
        with open_index(root) as index:
            assert isinstance(index.find("f1_1"), list)
    with open_index(root) as index:
        assert index.refresh().finished
        assert len(index.find("f119_39")) == len(index.find("f0_0")) == 1


def test_several_processes_and_threads_at_once(root: Path) -> None:
    build = """
import sys
from pathlib import Path
from deskagent.repo import store
from deskagent.repo.index import open_index
with open_index(Path(sys.argv[1])) as index:
    for _ in range(5):
        try:
            index.refresh()
        except store.Locked:
            pass
        index.find("Cart"); index.references("item")
"""
    processes = [subprocess.Popen([sys.executable, "-c", build, root]) for _ in range(3)]
    with open_index(root) as index:
        threads = [threading.Thread(target=lambda: [index.find("Cart") for _ in range(20)]) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [process.wait(240) for process in processes] == [0, 0, 0]
        index.refresh()
        assert len(index.find("Cart")) == 1


def test_the_background_builder_does_its_work(root: Path) -> None:
    assert background.start(root)
    with open_index(root) as index:
        deadline = time.monotonic() + 60
        while index.status().state is not State.READY and time.monotonic() < deadline:
            time.sleep(0.05)
        assert index.find("Cart")


def test_a_cache_that_cant_be_written_is_said(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESKAGENT_HOME", str(root / "shop.py"))
    with pytest.raises(UsageError, match="can't be kept"):
        open_index(root)
    with pytest.raises(UsageError, match="not a folder"):
        open_index(root / "shop.py")
