from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

import pytest

from deskagent.repo import git as reading
from deskagent.repo import snapshot


def by_path(taken: snapshot.Snapshot) -> dict[str, snapshot.Entry]:
    return {entry.path: entry for entry in taken.entries}


def kept(taken: snapshot.Snapshot, path: str) -> bytes:
    import zlib

    entry = by_path(taken)[path]
    assert entry.offset >= 0
    return zlib.decompress(taken.contents)[entry.offset : entry.offset + entry.size]


def test_a_plain_folder_is_kept_whole(project: Path):
    (project / "run.sh").write_bytes(b"#!/bin/sh\n")
    (project / "run.sh").chmod(0o755)
    (project / "twin").write_bytes(b"#!/bin/sh\n")
    (project / "link").symlink_to("pkg/core.py")
    (project / "empty").mkdir()
    for name in ("__pycache__", "node_modules", ".pytest_cache"):
        (project / name).mkdir()
        (project / name / "x").write_bytes(b"x")
    os.mkfifo(project / "pipe")
    taken = snapshot.take(project)
    entries = by_path(taken)
    assert set(entries) == {"pkg/__init__.py", "pkg/core.py", "README", "run.sh", "twin", "link", "empty"}
    assert kept(taken, "pkg/core.py") == b"def f():\r\n    return 1\r\n"
    assert (entries["run.sh"].mode, entries["run.sh"].offset) == (0o755, entries["twin"].offset)
    assert (entries["link"].kind, entries["link"].target) == ("link", "pkg/core.py")
    assert entries["empty"].kind == "folder"
    assert all(entry.held for entry in taken.entries) and taken.commit == ""


def test_git_holds_what_is_committed_byte_for_byte(project: Path, git):
    git(project, "init", "-q")
    (project / ".gitattributes").write_bytes(b"*.txt text eol=crlf\n")
    (project / ".gitignore").write_bytes(b"ignored\n")
    (project / "note.txt").write_bytes(b"one\r\n")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "start")
    (project / "README").write_bytes(b"dirty")
    (project / "ignored").write_bytes(b"ignored")
    (project / "new").write_bytes(b"new")
    taken = snapshot.take(project)
    entries = by_path(taken)
    assert taken.commit == git(project, "rev-parse", "HEAD")
    assert {path for path, entry in entries.items() if entry.object} >= {"pkg/core.py", ".gitignore"}
    # Git's object of note.txt has other line ends than the file.
    for path, data in {
        "README": b"dirty",
        "ignored": b"ignored",
        "new": b"new",
        "note.txt": b"one\r\n",
    }.items():
        assert kept(taken, path) == data
    objects = dict(reading.contents(project, [entries["pkg/core.py"].object, "0" * 40]))
    assert objects == {entries["pkg/core.py"].object: b"def f():\r\n    return 1\r\n", "0" * 40: None}


def test_the_digest_is_of_the_tree_alone(project: Path, git):
    plain = snapshot.take(project)
    git(project, "init", "-q")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "start")
    committed = snapshot.take(project)
    assert committed.digest == plain.digest and not committed.contents
    for change in (lambda p: p.write_bytes(b"x"), lambda p: p.chmod(0o600), lambda p: p.unlink()):
        before = snapshot.take(project).digest
        change(project / "README")
        assert snapshot.take(project).digest != before


def test_limits(project: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(snapshot, "MAX_FILE", 100)
    monkeypatch.setattr(snapshot, "MAX_BYTES", 150)
    monkeypatch.setattr(snapshot, "HASHED", 1000)
    for name, size in {"a": 60, "b": 61, "c": 62, "large": 500, "huge": 2000}.items():
        (project / name).write_bytes(name[0].encode() * size)
    taken = snapshot.take(project)
    entries = by_path(taken)
    assert [entries[name].held for name in ("a", "b", "c", "large", "huge")] == [
        True,
        False,
        False,
        False,
        False,
    ]
    assert entries["large"].digest == hashlib.sha256(b"l" * 500).hexdigest()
    assert entries["huge"].digest == ""
    assert kept(taken, "a") == b"a" * 60


def test_too_large_a_tree_is_given_up(project: Path):
    with pytest.raises(snapshot.TooLarge):
        snapshot.take(project, seconds=-1)


def test_a_name_that_is_no_text(project: Path):
    name = os.fsencode(project) + b"/\xff\xfe\n"
    Path(os.fsdecode(name)).write_bytes(b"x")
    assert "\udcff\udcfe\n" in by_path(snapshot.take(project))


def test_links_lead_nowhere(project: Path, tmp_path: Path):
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_bytes(b"secret")
    (project / "out").symlink_to(tmp_path / "secret")
    (project / "loop").symlink_to(".")
    (project / "void").symlink_to("nothing")
    entries = by_path(snapshot.take(project))
    assert {entries[name].kind for name in ("out", "loop", "void")} == {"link"}
    assert not any("key" in path for path in entries)


def test_a_thousand_small_files_cost_little(project: Path):
    for number in range(1000):
        (project / f"f{number}.py").write_bytes(b"def f(x):\n    return x + %d\n" % number * 40)
    used = time.process_time()
    assert len(snapshot.take(project).entries) == 1003
    assert time.process_time() - used < 2.0  # a bound against hangs; 0.1 s is usual
