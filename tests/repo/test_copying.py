from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from deskagent.repo.copying import HUGE, copy_project


def _copy(source: Path, target: Path, **options):
    target.mkdir()
    return copy_project(source, target, **options)


def test_the_copy_is_the_same_tree(project: Path, tmp_path: Path, digest: Callable[[Path], str]) -> None:
    (project / "empty").mkdir()
    (project / "empty").chmod(0o500)
    (project / "script.sh").write_text("#!/bin/sh\n")
    (project / "script.sh").chmod(0o755)
    (project / "dangling").symlink_to("nowhere")
    (project / "loop").symlink_to(".")
    (project / os.fsdecode(b"caf\xe9 \xff\n")).write_text("odd name")
    os.utime(project / "README", ns=(1_000_000_007, 1_234_567_890_123_456_789))
    os.utime(project / "pkg", ns=(1, 2))
    done = _copy(project, tmp_path / "copy")
    assert digest(project) == digest(tmp_path / "copy")
    assert done.skipped == []
    assert done.files == 5


def test_hard_links_stay_links_among_the_copied(project: Path, tmp_path: Path) -> None:
    os.link(project / "README", project / "pkg" / "same")
    _copy(project, tmp_path / "copy")
    one, other = (tmp_path / "copy" / name for name in ("README", "pkg/same"))
    assert one.samefile(other)
    assert not one.samefile(project / "README")


def test_special_and_huge_files_are_left_out_and_reported(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(project / "fifo")
    with (project / "huge").open("wb") as file:
        file.truncate(5 << 30)
    with (project / "just").open("wb") as file:
        file.truncate(HUGE + 1)
    monkeypatch.chdir(project)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("sock")
        done = _copy(project, tmp_path / "copy")
    assert {(item.path, item.why.split(",")[0]) for item in done.skipped} == {
        ("fifo", "a FIFO"),
        ("sock", "a socket"),
        ("huge", "5120 MiB"),
        ("just", "100 MiB"),
    }
    assert sorted(path.name for path in (tmp_path / "copy").iterdir()) == ["README", "pkg"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_what_can_t_be_read_is_reported(project: Path, tmp_path: Path) -> None:
    (project / "closed").mkdir(mode=0)
    (project / "README").chmod(0)
    done = _copy(project, tmp_path / "copy")
    assert {item.path for item in done.skipped} == {"closed", "README"}
    assert (tmp_path / "copy" / "pkg" / "core.py").exists()


def test_environments_dependencies_and_git_are_left_to_be_shared(
    repo: Path, tmp_path: Path, environment: Callable[[Path], Path]
) -> None:
    site = environment(repo / "my-env")
    (site / "dep.py").write_text("x = 1\n")
    (repo / "my-env" / "log").mkdir()
    (repo / "lib").mkdir()  # not an environment's
    (repo / "lib" / "own.py").write_text("x = 1\n")
    (repo / "js" / "node_modules" / "left").mkdir(parents=True)
    (repo / ".mypy_cache").mkdir()
    done = _copy(repo, tmp_path / "copy")
    assert done.gits == [".git"]
    assert sorted(done.shared) == ["js/node_modules", "my-env/bin", "my-env/lib"]
    copy = tmp_path / "copy"
    assert [list((copy / name).iterdir()) for name in (*done.gits, *done.shared)] == [[], [], [], []]
    assert (copy / "my-env" / "pyvenv.cfg").exists()
    assert (copy / "my-env" / "log").is_dir()
    assert (copy / "lib" / "own.py").exists()
    assert not (copy / ".mypy_cache").exists()


def test_a_folder_can_be_left_out(project: Path, tmp_path: Path) -> None:
    inner = project / "inner"
    inner.mkdir()
    (inner / "file").write_text("x")
    status = inner.stat()
    done = _copy(project, tmp_path / "copy", leave_out={(status.st_dev, status.st_ino)})
    assert [item.path for item in done.skipped] == ["inner"]
    assert not (tmp_path / "copy" / "inner").exists()


def test_without_the_kernel_s_copy_the_bytes_are_the_same(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, digest: Callable[[Path], str]
) -> None:
    (project / "big").write_bytes(os.urandom(3 << 20))

    def refuse(*_: object) -> int:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "copy_file_range", refuse)
    _copy(project, tmp_path / "copy")
    assert digest(project) == digest(tmp_path / "copy")


_ON_A_SMALL_DISK = """
import os, sys
from pathlib import Path
from deskagent.errors import TransientError
from deskagent.repo.scratch import make_scratch
from deskagent.terminal.sandbox import Unconfined
try:
    make_scratch(Path(sys.argv[1]), Unconfined())
except TransientError as error:
    print(error.exit_code, os.listdir(sys.argv[2] + "/cache/scratch"), error)
"""


def test_a_full_disk_is_a_passing_error_that_leaves_nothing(project: Path, tmp_path: Path) -> None:
    if not shutil.which("unshare"):
        pytest.skip("unshare is not installed")
    (project / "big").write_bytes(bytes(3 << 20))
    disk = tmp_path / "disk"
    disk.mkdir()
    script = f'mount -t tmpfs -o size=2m none "{disk}" && exec "$0" "$@"'
    own = () if os.geteuid() == 0 else ("-r",)
    done = subprocess.run(
        (
            "unshare",
            *own,
            "-m",
            "sh",
            "-c",
            script,
            sys.executable,
            "-c",
            _ON_A_SMALL_DISK,
            str(project),
            str(disk),
        ),
        env={**os.environ, "DESKAGENT_HOME": str(disk), "TMPDIR": str(disk)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    if "mount:" in done.stderr or "unshare:" in done.stderr:
        pytest.skip(f"no mounts of one's own here: {done.stderr.strip()}")
    assert done.stdout.startswith("75 ['.lock'] "), done
    assert "Free some space" in done.stdout
