"""The installed command, run from the shell on projects made on the spot."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from deskagent.terminal.sandbox import find_sandbox
from deskagent.terminal.types import Rung

CEILING = 240.0  # seconds after which a run counts as hanging


@dataclass
class Done:
    """How a run of the command ended. `result` is the last event, {} where there is none."""

    code: int
    stdout: str
    stderr: str
    result: dict[str, Any] = field(default_factory=dict)


@dataclass
class Agent:
    """`deskagent`, as installed beside this interpreter, with a home folder of its own."""

    home: Path

    @property
    def command(self) -> list[str]:
        installed = Path(sys.executable).parent / "deskagent"
        return [str(installed)] if installed.is_file() else [sys.executable, "-m", "deskagent"]

    def env(self, **more: str) -> dict[str, str]:
        env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
        return {**env, "DESKAGENT_HOME": str(self.home), "PYTHONDONTWRITEBYTECODE": "1", **more}

    def fix_words(self, *words: str, rung: str | None = None) -> list[str]:
        """`fix`, json out; without a sandbox on this machine, in the mode that asks for none."""
        unconfined = rung is None and find_sandbox().rung is Rung.NONE
        mode = ["--permission-mode", "full"] if unconfined else []
        return [*self.command, "fix", *words, "--output-format", "json", *mode]

    def start(self, words: list[str], cwd: Path, **env: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            words,
            cwd=cwd,
            env=self.env(**env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, words: list[str], cwd: Path, **env: str) -> Done:
        child = self.start(words, cwd, **env)
        try:
            stdout, stderr = child.communicate(timeout=CEILING)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            raise
        lines = stdout.splitlines()
        try:
            result = json.loads(lines[-1]) if lines else {}
        except ValueError:
            result = {}
        return Done(child.returncode, stdout, stderr, result)

    def fix(self, *words: str, cwd: Path, rung: str | None = None, **env: str) -> Done:
        if rung:
            env["DESKAGENT_SANDBOX"] = rung
        return self.run(self.fix_words(*words, rung=rung), cwd, **env)


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    home = tmp_path / "home"
    home.mkdir()
    return Agent(home)


@pytest.fixture
def project(tmp_path: Path) -> Callable[..., Path]:
    """Makes a project of path → text or bytes; `commit=False` leaves HEAD unborn, `git=False` a plain folder."""

    def make(files: dict[str, str | bytes], *, git: bool = True, commit: bool = True) -> Path:
        folder = tmp_path / "project"
        for path, content in files.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            data = content if isinstance(content, bytes) else textwrap.dedent(content).lstrip("\n").encode()
            target.write_bytes(data)
        if git:
            run_git(folder, "init", "-q")
        if git and commit:
            run_git(folder, "add", "-A")
            run_git(folder, "commit", "-qm", "start")
        return folder

    return make


def run_git(folder: Path, *words: str, stdin: str | None = None) -> str:
    """What git prints, whatever this machine's own configuration says."""
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@localhost", "-C", str(folder), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=env, input=stdin).stdout


@pytest.fixture
def git() -> Callable[..., str]:
    return run_git


@pytest.fixture
def snapshot() -> Callable[[Path], dict[str, tuple[int, bytes]]]:
    """Path → (mode, bytes) of every file and link of a folder, git's own included."""

    def take(folder: Path) -> dict[str, tuple[int, bytes]]:
        found = {}
        for path in sorted(folder.rglob("*")):
            if path.is_symlink():
                found[path.relative_to(folder).as_posix()] = (0, str(path.readlink()).encode())
            elif path.is_file():
                found[path.relative_to(folder).as_posix()] = (path.stat().st_mode, path.read_bytes())
        return found

    return take


@pytest.fixture
def leftovers(tmp_path: Path) -> Iterator[Callable[[], list[str]]]:
    """Command lines of processes that still stand in or name this test's folder."""

    def find() -> list[str]:
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
                cwd = str((entry / "cwd").readlink())
            except OSError:
                continue
            if int(entry.name) != os.getpid() and (cwd.startswith(str(tmp_path)) or str(tmp_path) in line):
                found.append(line)
        return found

    yield find
