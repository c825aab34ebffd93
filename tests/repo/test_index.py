from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from deskagent.errors import TransientError, UsageError
from deskagent.repo import background, store
from deskagent.repo.index import Index, State, open_index
from deskagent.repo.indexing import Writer

CORE = """\
class Cart:
    def __init__(self):
        self.items = []

    def add_item(self, item):
        self.items.append(item)

    def total_price(self):
        return sum(price_of(item) for item in self.items)


def price_of(item):
    return item.price
"""
SHOP = """\
from pkg.cart import Cart, price_of


def checkout(items):
    cart = Cart()
    for item in items:
        cart.add_item(item)
    return cart.total_price()


handler = price_of
"""


@pytest.fixture
def root(tmp_path: Path, git: Callable[..., str]) -> Path:
    folder = tmp_path.resolve() / "shop"
    (folder / "pkg").mkdir(parents=True)
    (folder / "pkg" / "cart.py").write_text(CORE)
    (folder / "shop.py").write_text(SHOP)
    (folder / "notes.txt").write_text("The checkout needs a better total.\n")
    (folder / ".gitignore").write_text("ignored/\n")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    return folder


@pytest.fixture
def index(root: Path) -> Iterator[Index]:
    with open_index(root) as opened:
        opened.refresh()
        yield opened


def settle(index: Index) -> None:
    """Until no file counts as just written."""
    time.sleep(0.15)
    index.refresh()


def test_definitions_by_name_and_by_dotted_name(index: Index) -> None:
    (found,) = index.find("total_price")
    assert (found.path, found.qualified, found.kind, found.line, found.end_line, found.language) == (
        *("pkg/cart.py", "Cart.total_price", "method"),
        *(8, 9, "python"),
    )
    assert index.find("Cart.total_price") == index.find("pkg.cart.Cart.total_price") == [found]
    assert index.find("Basket.total_price") == index.find("absent") == index.find("") == []


def test_references_say_where_they_are_and_what_they_lie_in(index: Index) -> None:
    found = [
        (r.path, r.line, r.call, r.inside.qualified if r.inside else None)
        for r in index.references("price_of")
    ]
    assert found == [
        ("pkg/cart.py", 9, True, "Cart.total_price"),
        ("shop.py", 1, False, None),
        ("shop.py", 11, False, None),
    ]


def test_callers_come_with_their_lines(index: Index) -> None:
    (caller,) = index.callers("Cart.add_item")
    assert (caller.definition.qualified, caller.lines) == ("checkout", (7,))
    assert [c.definition.qualified for c in index.callers("price_of")] == ["Cart.total_price"]


def test_text_search_finds_words_in_a_row_and_apart(index: Index) -> None:
    assert [(r.path, r.line) for r in index.search_text("checkout better total")] == [("notes.txt", 1)]
    (line,) = index.search_text('"better total"')
    assert (line.path, line.line, line.text) == ("notes.txt", 1, "The checkout needs a better total.")
    assert index.search_text("add_item")[0].text.strip() in (
        "cart.add_item(item)",
        "def add_item(self, item):",
    )
    for odd in ("", '"', "***", "(", 'a" OR b', "NEAR(", "\0", "\udc80"):
        assert isinstance(index.search_text(odd), list)


def test_names_by_part_and_by_likeness(index: Index) -> None:
    assert index.search_identifiers("ITEM") == ["item", "items", "add_item"]
    assert index.search_identifiers("_of") == ["price_of"]
    assert index.search_identifiers("it") == []
    assert index.similar_definitions("total_prices")[0].qualified == "Cart.total_price"
    for odd in ("", '"', "a\0bc", "\udc80\udc80\udc80"):
        assert index.search_identifiers(odd) == []
        assert index.similar_definitions(odd) == []


def test_an_edit_a_new_file_and_a_deletion_are_seen(index: Index, root: Path) -> None:
    (root / "shop.py").write_text("def other():\n    pass\n")
    (root / "new.py").write_text("def fresh():\n    return other()\n")
    (root / "pkg" / "cart.py").unlink()
    outcome = index.refresh()
    assert (outcome.changed >= 2, outcome.removed) == (True, 1)
    assert index.find("checkout") == index.find("Cart") == []
    assert [c.definition.path for c in index.callers("other")] == ["new.py"]
    assert index.search_identifiers("total_price") == []


def test_a_rename_moves_the_definitions_and_parses_nothing(index: Index, root: Path) -> None:
    before = index.status().definitions
    (root / "pkg" / "cart.py").rename(root / "pkg" / "basket.py")
    index.refresh()
    assert [d.path for d in index.find("Cart")] == ["pkg/basket.py"]
    assert index.status().definitions == before


def test_copies_share_their_content_and_are_all_found(index: Index, root: Path) -> None:
    (root / "copy.py").write_text(CORE)
    index.refresh()
    assert [d.path for d in index.find("Cart")] == ["copy.py", "pkg/cart.py"]
    (root / "pkg" / "cart.py").unlink()
    index.refresh()
    assert [d.path for d in index.find("Cart")] == ["copy.py"]


def test_unchanged_files_are_not_read(index: Index) -> None:
    settle(index)
    assert index.refresh().changed == 0


def test_an_edit_that_keeps_size_and_mtime_is_seen(index: Index, root: Path) -> None:
    settle(index)
    path = root / "shop.py"
    status = path.stat()
    path.write_text(SHOP.replace("checkout", "checkuot"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    index.refresh()
    assert index.find("checkuot")
    assert not index.find("checkout")


def test_a_save_is_taken_in_alone(index: Index, root: Path) -> None:
    (root / "shop.py").write_text(SHOP + "\n\ndef later():\n    pass\n")
    assert index.update(["shop.py"])
    assert index.find("later")
    assert not index.update(["never.py"])
    (root / "shop.py").unlink()
    assert not index.update(["shop.py"])


def test_ignored_files_stay_out(index: Index, root: Path) -> None:
    (root / "ignored").mkdir()
    (root / "ignored" / "a.py").write_text("def hidden(): pass\n")
    index.refresh()
    assert index.find("hidden") == []


def test_without_git_a_folder_is_walked(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def plain(): pass\n")
    with open_index(tmp_path) as index:
        index.refresh()
        assert [d.path for d in index.find("plain")] == ["a.py"]


def test_hostile_files_harm_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "self.py").symlink_to("self.py")
    (tmp_path / "secret.py").symlink_to("/etc/passwd")
    with (tmp_path / "huge.py").open("wb") as file:
        file.truncate(5 << 30)
    (tmp_path / "deep.py").write_text("(" * 100_000)
    (tmp_path / "nul.py").write_bytes(b"def a(): pass\n" + b"x" * 9000 + b"\0")
    (tmp_path / "wide.py").write_text("def wide(): return '" + "x" * 3000 + "'\n")
    (tmp_path / "utf16.py").write_bytes("def sixteen(): pass\n".encode("utf-16"))
    (tmp_path / "cr.py").write_bytes(b"def one(): pass\r\ndef two(): pass\r\n")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe.py")).write_text("def odd(): pass\n")
    (tmp_path / "new\nline.py").write_text("def newline(): pass\n")
    closed = tmp_path / "closed"
    closed.mkdir()
    (closed / "in.py").write_text("def unreachable(): pass\n")
    closed.chmod(0)
    try:
        with open_index(tmp_path) as index:
            assert index.refresh().finished
            for name in ("wide", "sixteen", "two", "odd", "newline"):
                assert len(index.find(name)) == 1, name
            assert index.find("two")[0].line == 2
            assert index.search_text("sixteen")[0].path == "utf16.py"
            assert index.search_text("root:x") == []
            status = index.status()
            assert status.state is State.READY
            assert status.skipped["large"] == 1
            assert index.map(200)
    finally:
        closed.chmod(0o755)


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


def test_dead_content_is_thrown_out_in_the_end(
    index: Index, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from deskagent.repo import indexing

    monkeypatch.setattr(indexing, "_DEAD", 5)
    before = store.current(store.folder_of(root))
    for number in range(12):
        (root / "shop.py").write_text(f"def version{number}(): pass\n")
        index.update(["shop.py"])
    index.refresh()
    assert store.current(store.folder_of(root)) != before
    assert index.find("version11")
    assert index.find("Cart")


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
