from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deskagent.repo import leads, repomap, store
from deskagent.repo.homes import COMMON
from deskagent.repo.index import open_index

PATHS = ("one.py", "two.py", "pkg/__init__.py", "pkg/one.py", "web/app.js", "core.go", "notes.txt")
NAMES = ("alpha", "beta_gamma", "_inner")
DEFINED = ("def {}(): pass", "class {}: pass", "class Box:\n    def {}(self): pass", "{} = 1")
USED = ("x = {}()", "x.{}()", "y = {}", "from one import {}", "import pkg.{}")
FOCUS = ((), ("alpha",), ("Box.beta_gamma", "pkg/"), ("two.py",))


@contextmanager
def reading(root: Path) -> Iterator[sqlite3.Connection]:
    path = store.current(store.folder_of(root))
    assert path is not None
    connection = store.connect(path)
    assert connection is not None
    try:
        yield connection
    finally:
        connection.close()


@contextmanager
def afresh(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """A copy of the database that keeps no leads."""
    copy = sqlite3.connect(":memory:", isolation_level=None)
    try:
        connection.backup(copy)
        copy.execute("DELETE FROM lead")
        yield copy
    finally:
        copy.close()


def by_path(connection: sqlite3.Connection) -> dict[bytes, list[tuple[str, float, list[bytes]]]]:
    """The leads, targets by their paths."""
    found = leads.bring_up(connection)
    paths = {file.id: file.path for file in found.files}
    assert len(paths) == len(found.files)
    return {
        file.path: [(name, strength, [paths[at] for at in ids]) for name, strength, ids in row]
        for file, row in zip(found.files, found.rows, strict=True)
    }


def write(root: Path, name: str, random: Random) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [random.choice(DEFINED + USED).format(random.choice(NAMES)) for _ in range(random.randint(0, 5))]
    path.write_text("\n".join(lines) + "\n")


def edit(root: Path, random: Random) -> None:
    """A file is written, goes, or moves over another."""
    name, other = random.sample(PATHS, 2)
    what = random.choice(("write", "write", "write", "remove", "move"))
    if what == "write":
        write(root, name, random)
    elif what == "remove":
        (root / name).unlink(missing_ok=True)
    elif (root / name).exists():
        (root / name).replace(root / other)


@given(st.integers(0, 2**32))
@settings(max_examples=15, deadline=None)
def test_brought_up_is_as_found_afresh_whatever_was_edited(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    random = Random(seed)
    root = tmp_path_factory.mktemp("edited")
    for name in PATHS:
        write(root, name, random)
    with open_index(root) as index:
        for _ in range(5):
            index.refresh()
            with reading(root) as connection, afresh(connection) as copy:
                assert by_path(connection) == by_path(copy)
                assert connection.execute("SELECT count(*) FROM lead").fetchone()[0] == len(by_path(copy))
                for focus in FOCUS:
                    assert repomap.repo_map(connection, 300, focus) == repomap.repo_map(copy, 300, focus)
            for _ in range(random.randint(1, 2)):
                edit(root, random)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "base.py").write_text("def shared(): pass\n\n\ndef lonely(): pass\n")
    for number in range(3):
        (tmp_path / f"user{number}.py").write_text(
            f"from base import shared\n\n\ndef use{number}(): shared()\n"
        )
    with open_index(tmp_path) as index:
        index.refresh()
    return tmp_path


def kept(connection: sqlite3.Connection) -> dict[bytes, bytes]:
    return dict(connection.execute("SELECT path, leads FROM lead").fetchall())


def test_a_change_inside_a_body_rewrites_the_row_of_its_file_alone(root: Path) -> None:
    with reading(root) as connection:
        leads.bring_up(connection)
        before = kept(connection)
        (root / "user1.py").write_text("from base import lonely\n\n\ndef use1(): lonely()\n")
        with open_index(root) as index:
            index.refresh()
        leads.bring_up(connection)
        now = kept(connection)
    assert {path for path in now if now[path] != before[path]} == {b"user1.py"}


def test_a_file_that_moves_leads_and_is_led_to_by_its_new_name(root: Path) -> None:
    with reading(root) as connection:
        assert [row[0][2] for row in by_path(connection).values() if row] == [[b"base.py"]] * 3
        (root / "base.py").rename(root / "ground.py")
        with open_index(root) as index:
            index.refresh()
        strangers = by_path(connection)
    assert strangers[b"user0.py"][0][2] == [b"ground.py"]
    assert b"base.py" not in strangers


def test_what_cant_be_kept_is_found_all_the_same(root: Path) -> None:
    path = store.current(store.folder_of(root))
    assert path is not None
    writer = sqlite3.connect(path, isolation_level=None)
    try:
        writer.execute("BEGIN IMMEDIATE")
        with reading(root) as connection:
            assert len(by_path(connection)[b"user0.py"]) == 1
            assert not connection.in_transaction
            assert kept(connection) == {}
            writer.execute("ROLLBACK")
            by_path(connection)
            assert len(kept(connection)) == 4
    finally:
        writer.close()


def test_a_name_that_many_files_define_counts_where_it_is_asked_for(root: Path) -> None:
    for number in range(COMMON + 1):
        (root / f"many{number:02}.py").write_text(f"def common_name(): return {number}\n")
    for number in range(3):
        (root / f"caller{number}.py").write_text("import many07\n\n\ndef call(): many07.common_name()\n")
    with open_index(root) as index:
        index.refresh()
        assert "many07.py" not in index.map(40)
        assert index.map(40, ["common_name"]).startswith("many07.py:\n    1 def common_name()\n")


def test_a_focus_of_any_characters_is_looked_for(root: Path) -> None:
    with open_index(root) as index:
        assert index.map(100, ["\udc80", "a\0b", "", ".", "'"]) != ""
