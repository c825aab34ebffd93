from __future__ import annotations

import os
import socket
import time
from pathlib import Path

import pytest

from deskagent.repo.sources import MAX_BYTES, UNSETTLED, read


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("naïve\n".encode(), "naïve\n"),
        ("naïve\n".encode("utf-8-sig"), "naïve\n"),
        ("naïve\n".encode("utf-16"), "naïve\n"),
        ("naïve\n".encode("cp1252"), "naïve\n"),
        (b"\x81\n", "\ufffd\n"),
        (b"\xff\xfe\x00\xd8a\x00", "\ufffda"),  # a lone surrogate
        (b"", ""),
    ],
)
def test_text_in_any_encoding(tmp_path: Path, data: bytes, text: str) -> None:
    (tmp_path / "f").write_bytes(data)
    source = read(tmp_path, "f")
    assert source is not None
    assert source.text == text


def test_what_is_no_source_is_passed_over_with_a_reason(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(os.path.relpath(tmp_path / "socket"))
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(5 << 30)
    (tmp_path / "nul").write_bytes(b"ab\0cd")
    (tmp_path / "minified.js").write_bytes(b"a=1;" * 20_000)
    (tmp_path / "line").write_bytes(b"x" * (MAX_BYTES + 1))
    (tmp_path / "outside").symlink_to("/etc")
    notes = {}
    for name in ("fifo", "socket", "sparse", "nul", "minified.js", "line"):
        source = read(tmp_path, name)
        assert source is not None
        assert source.text is None
        notes[name] = source.note
    assert notes["sparse"] == notes["line"] == "large"
    assert notes["fifo"] == "special"
    assert notes["nul"] == "binary"
    assert "long lines" in notes["minified.js"]
    outside = read(tmp_path, "outside/hostname")
    assert outside is None or outside.text is None


def test_nothing_there_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert read(tmp_path, "absent") is None
    assert read(tmp_path, "file/below") is None


def test_a_file_just_written_is_not_trusted_to_stay(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("x")
    os.utime(path, (time.time() + 60,) * 2)  # however late the next line may be
    source = read(tmp_path, "f")
    assert source is not None
    assert source.stamp.mtime == UNSETTLED
    os.utime(path, (1, 1))
    time.sleep(0.15)
    later = read(tmp_path, "f")
    assert later is not None
    assert later.stamp.mtime == path.stat().st_mtime_ns
