"""Real repositories and folders to copy, walk and patch; deskagent's own folders are apart for every test."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from deskagent.terminal.sandbox import Sandbox, SandboxError, Unconfined, find_sandbox
from deskagent.terminal.types import Rung


@pytest.fixture(autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """deskagent's home, outside of the project under test."""
    home = tmp_path_factory.mktemp("deskagent")
    monkeypatch.setenv("DESKAGENT_HOME", str(home))
    return home


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small plain folder with sources."""
    folder = tmp_path.resolve() / "proj"
    (folder / "pkg").mkdir(parents=True)
    (folder / "pkg" / "__init__.py").write_bytes(b"")
    (folder / "pkg" / "core.py").write_bytes(b"def f():\r\n    return 1\r\n")
    (folder / "README").write_bytes(b"no final newline")
    return folder


@pytest.fixture
def git() -> Callable[..., str]:
    """Runs git in a folder, free of the person's own settings, and returns what it prints."""

    def run(folder: Path, *arguments: str, check: bool = True) -> str:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": "/nonexistent",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
            **{
                f"GIT_{who}_{what}": "a@example.org"
                for who in ("AUTHOR", "COMMITTER")
                for what in ("NAME", "EMAIL")
            },
        }
        settings = ("-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always")
        done = subprocess.run(
            ("git", *settings, *arguments), cwd=folder, env=env, capture_output=True, text=True, timeout=60
        )
        assert not check or done.returncode == 0, done.stderr
        return done.stdout.strip()

    return run


@pytest.fixture
def repo(project: Path, git: Callable[..., str]) -> Path:
    """The project as a git repository with one commit."""
    git(project, "init", "-q")
    git(project, "add", ".")
    git(project, "commit", "-qm", "first")
    return project


@pytest.fixture
def digest() -> Callable[..., str]:
    """A hash of all that a folder holds: names, kinds, modes, times, contents. Access times don't count."""

    def of(folder: Path, *, times: bool = True) -> str:
        found = hashlib.sha256()
        for path in sorted(folder.rglob("*")):
            status = path.lstat()
            found.update(
                repr((str(path.relative_to(folder)), status.st_mode, times and status.st_mtime_ns)).encode()
            )
            if stat.S_ISREG(status.st_mode):
                found.update(path.read_bytes())
            elif stat.S_ISLNK(status.st_mode):
                found.update(os.fsencode(path.readlink()))
        return found.hexdigest()

    return of


@pytest.fixture
def sandbox_of() -> Callable[[Rung], Sandbox]:
    """The sandbox of a rung; the test is skipped where it doesn't work."""

    def get(rung: Rung) -> Sandbox:
        if rung is Rung.NONE:
            return Unconfined()
        try:
            return find_sandbox(prefer=rung)
        except SandboxError as error:
            pytest.skip(error.message)

    return get


@pytest.fixture
def environment() -> Callable[..., Path]:
    """Makes a virtual environment in a folder, without pip; returns its site-packages."""

    def make(folder: Path) -> Path:
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        site = folder / "lib" / version / "site-packages"
        site.mkdir(parents=True)
        (folder / "bin").mkdir()
        base = Path(sys.base_prefix) / "bin"
        (folder / "pyvenv.cfg").write_text(f"home = {base}\ninclude-system-site-packages = false\n")
        for name in ("python", "python3"):
            (folder / "bin" / name).symlink_to(base / version)
        return site

    return make
