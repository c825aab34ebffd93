"""Temporary folders go with their process, at the latest when the next one starts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from deskagent.terminal import temporary


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path.resolve() / "tmp"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def test_a_folder_is_private_and_goes_with_what_is_in_it(place: Path) -> None:
    with temporary.folder("output") as folder:
        assert folder.parent == place
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "locked").mkdir()
        (folder / "locked" / "file").write_text("x")
        (folder / "locked").chmod(0)
    assert list(place.iterdir()) == []


def test_what_a_killed_process_left_is_swept_and_what_lives_stays(place: Path) -> None:
    code = (
        "import sys, tempfile, time; tempfile.tempdir = sys.argv[1]\n"
        "from deskagent.terminal import temporary\n"
        "print(temporary.make('lines'), flush=True); time.sleep(600)"
    )
    child = subprocess.Popen([sys.executable, "-c", code, str(place)], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        left = Path(child.stdout.readline().strip())
        (left / "file").write_text("x")
        mine = temporary.make("temp")
        assert temporary.sweep() == 0
        assert left.is_dir()
        child.send_signal(signal.SIGKILL)
        child.communicate(timeout=30)
        assert temporary.sweep() == 1
        assert list(place.iterdir()) == [mine]
        temporary.drop(mine)
    finally:
        child.kill()
    assert list(place.iterdir()) == []


def test_what_is_not_ours_is_left_alone(place: Path) -> None:
    names = ("deskagent-0", "deskagent-", "deskagent-output", "other-output-abc", "deskagent-new-abcdefgh")
    for name in names:
        (place / name).mkdir()
    (place / "deskagent-output-file").write_text("x")
    (place / "deskagent-output-link").symlink_to(place / "other-output-abc")
    assert temporary.sweep() == 0
    assert len(list(place.iterdir())) == len(names) + 2
    old = time.time() - 3600
    os.utime(place / "deskagent-new-abcdefgh", (old, old))
    assert temporary.sweep() == 1
    assert not (place / "deskagent-new-abcdefgh").exists()
