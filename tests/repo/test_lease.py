from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from deskagent.errors import TransientError
from deskagent.repo import lease

_HOLD = """
import sys
from pathlib import Path
from deskagent.repo.lease import claim
held = claim(Path(sys.argv[1]))
(held.folder / "file").write_text("x")
(held.folder / "closed").mkdir(mode=0)
print(held.folder, flush=True)
sys.stdin.read()
"""


def _holder(base: Path) -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen(
        (sys.executable, "-c", _HOLD, str(base)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_a_killed_run_s_folder_is_swept_and_a_live_one_s_never(tmp_path: Path) -> None:
    (killed, dead), (other, alive) = _holder(tmp_path), _holder(tmp_path)
    try:
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        (tmp_path / "dead-half-deleted").mkdir()
        mine = lease.claim(tmp_path)
        assert lease.sweep(tmp_path) == 2
        assert not dead.exists()
        assert (alive / "file").exists()
        assert mine.folder.is_dir()
        mine.release()
        mine.release()
        assert not mine.folder.exists()
    finally:
        other.communicate()
        killed.communicate()
    assert lease.sweep(tmp_path) == 1
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]


def test_claims_and_sweeps_at_once_lose_nothing(tmp_path: Path) -> None:
    lost: list[Path] = []

    def work() -> None:
        for _ in range(15):
            held = lease.claim(tmp_path)
            (held.folder / "file").write_text("x")
            lease.sweep(tmp_path)
            if not (held.folder / "file").exists():
                lost.append(held.folder)
            held.release()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert lost == []
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]


def test_folders_are_private_and_on_the_project_s_disk(tmp_path: Path, own_folders: Path) -> None:
    base = lease.base_for(tmp_path)
    assert base == own_folders / "cache" / "scratch"
    assert base.stat().st_mode & 0o777 == 0o700
    held = lease.claim(base)
    assert held.folder.stat().st_mode & 0o777 == 0o700
    held.release()


def test_somebody_else_s_place_in_tmp_is_not_used(
    tmp_path: Path, own_folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a shared /tmp another person can be first to make a folder, or a link, of our name."""
    (tmp_path / "elsewhere").mkdir()
    (own_folders / "cache").write_text("not a folder")
    monkeypatch.setattr(lease.tempfile, "gettempdir", lambda: str(tmp_path))
    (tmp_path / f"deskagent-{os.geteuid()}").symlink_to("elsewhere")
    with pytest.raises(TransientError, match="No place for scratch copies"):
        lease.base_for(tmp_path)
