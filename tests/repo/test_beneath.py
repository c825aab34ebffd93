from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskagent.errors import UsageError
from deskagent.repo import beneath


@given(st.text(alphabet="a./\0", max_size=12))
def test_a_path_is_split_only_if_it_stays_inside(name: str) -> None:
    try:
        parts = beneath.split(name)
    except UsageError:
        assert (
            name == ""
            or "\0" in name
            or os.path.normpath(name) != name
            or name[0] == "/"
            or name.split("/")[0] in (".", "..")
        )
    else:
        assert "/".join(parts) == name == os.path.normpath(name)
        assert not name.startswith(("/", "../")) and name != ".."


@pytest.mark.parametrize("name", [".git/config", "sub/.GIT/hooks/x", ".git"])
def test_git_own_files_are_never_named(name: str) -> None:
    with pytest.raises(UsageError, match="git itself"):
        beneath.split(name)


def test_a_link_inside_is_followed_and_one_that_leads_out_refused(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "real").mkdir(parents=True)
    (root / "alias").symlink_to("real")
    (root / "out").symlink_to(tmp_path)
    (root / "loop").symlink_to("loop")
    assert beneath.resolve(root, "alias/file.py") == ("real", "file.py")
    with pytest.raises(UsageError, match="leads out"):
        beneath.resolve(root, "out/file.py")
    assert beneath.resolve(root, "loop") == ("loop",)


def test_a_folder_swapped_for_a_link_is_not_entered(tmp_path: Path) -> None:
    (tmp_path / "root" / "a").mkdir(parents=True)
    (tmp_path / "secret").mkdir()
    parts = beneath.resolve(tmp_path / "root", "a/file")
    (tmp_path / "root" / "a").rmdir()
    (tmp_path / "root" / "a").symlink_to(tmp_path / "secret")
    with pytest.raises(OSError), beneath.folder(tmp_path / "root", parts[:-1]):
        pass


def test_reading_a_fifo_or_a_link_does_not_hang_or_follow(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "target").write_bytes(b"x")
    (tmp_path / "link").symlink_to("target")
    with beneath.folder(tmp_path, ()) as at:
        with pytest.raises(UsageError):
            beneath.read(at, "fifo")
        with pytest.raises(OSError):
            beneath.read(at, "link")
        assert beneath.read(at, "absent") is None
        found = beneath.read(at, "target")
    assert found is not None and found[0] == b"x"
