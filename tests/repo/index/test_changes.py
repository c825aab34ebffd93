"""What changes on disk is seen, what is hostile harms nothing."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from deskagent.repo import store
from deskagent.repo.index import Index, State, open_index


def settle(index: Index) -> None:
    """Until no file counts as just written."""
    time.sleep(0.15)
    index.refresh()


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


def test_copies_share_their_content_and_are_all_found(index: Index, root: Path, core) -> None:
    (root / "copy.py").write_text(core)
    index.refresh()
    assert [d.path for d in index.find("Cart")] == ["copy.py", "pkg/cart.py"]
    (root / "pkg" / "cart.py").unlink()
    index.refresh()
    assert [d.path for d in index.find("Cart")] == ["copy.py"]


def test_unchanged_files_are_not_read(index: Index) -> None:
    settle(index)
    assert index.refresh().changed == 0


def test_an_edit_that_keeps_size_and_mtime_is_seen(index: Index, root: Path, shop) -> None:
    settle(index)
    path = root / "shop.py"
    status = path.stat()
    path.write_text(shop.replace("checkout", "checkuot"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    index.refresh()
    assert index.find("checkuot")
    assert not index.find("checkout")


def test_a_save_is_taken_in_alone(index: Index, root: Path, shop) -> None:
    (root / "shop.py").write_text(shop + "\n\ndef later():\n    pass\n")
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
