"""A box to try attacks in: a workspace, a home with secrets and a place outside, all real, on either rung."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from deskagent.terminal.sandbox import Sandbox, SandboxError, find_sandbox
from deskagent.terminal.types import Policy, Rung


@dataclass
class Box:
    """Runs commands in `work` under `policy`; they see all of the test's folder, read-only outside `work`."""

    sandbox: Sandbox
    work: Path
    home: Path
    outside: Path
    policy: Policy
    env: dict[str, str] = field(default_factory=dict)

    def run(
        self,
        *argv: str,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        policy: Policy | None = None,
        **options,
    ) -> subprocess.CompletedProcess[str]:
        """Runs `argv`, a program by its full path first; the output is kept as text."""
        wrapped = self.sandbox.wrap(
            argv, cwd or self.work, {**self.env, **(env or {})}, policy or self.policy
        )
        given = options.pop("pass_fds", ())
        try:
            return subprocess.run(
                wrapped.argv,
                cwd=wrapped.cwd,
                env=dict(wrapped.env),
                pass_fds=(*wrapped.fds, *given),
                start_new_session=True,
                timeout=60,
                text=True,
                errors="surrogateescape",
                **{
                    "stdin": subprocess.DEVNULL,
                    "stdout": subprocess.PIPE,
                    "stderr": subprocess.PIPE,
                    **options,
                },
            )
        finally:
            for fd in wrapped.fds:
                os.close(fd)
            wrapped.cleanup()

    def python(self, code: str, *arguments: object, **options) -> str:
        """What `code` prints; anything but a clean end fails the test."""
        text = textwrap.dedent(_PRELUDE) + textwrap.dedent(code)
        done = self.run(sys.executable, "-I", "-c", text, *map(str, arguments), **options)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def shell(self, line: str, **options) -> subprocess.CompletedProcess[str]:
        return self.run("/bin/sh", "-c", line, **options)

    def allowing(self, **changes) -> Policy:
        """The box's policy with `changes`."""
        return replace(self.policy, **changes)


# `tried(f)` is "done", or the name of the error that stopped it.
_PRELUDE = """
import ctypes, errno, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def tried(act):
    try:
        act()
        return "done"
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error.errno))
def call(number, *arguments):
    if libc.syscall(*map(ctypes.c_long, (number, *arguments))) < 0:
        raise OSError(ctypes.get_errno(), "")
"""


def _sandbox(rung: Rung) -> Sandbox:
    try:
        return find_sandbox(prefer=rung)
    except SandboxError as error:
        pytest.skip(error.message)


@pytest.fixture
def box_on(tmp_path: Path):
    """Makes a box on the rung asked for."""

    def make(rung: Rung) -> Box:
        folders = [tmp_path / name for name in ("work", "home", "outside")]
        for folder in folders:
            folder.mkdir()
        work, home, outside = folders
        (outside / "canary").write_text("whole")
        (outside / "folder").mkdir()
        (home / ".ssh").mkdir()
        (home / ".ssh" / "id_ed25519").write_text("SECRET KEY")
        (home / ".netrc").write_text("SECRET PASSWORD")
        (outside / "clouds").mkdir()
        (outside / "clouds" / "credentials").write_text("SECRET TOKEN")
        (home / ".aws").symlink_to(outside / "clouds")
        (home / "notes").write_text("notes")
        policy = Policy(writable=(work,), readable=(tmp_path,))
        env = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(home), "LANG": "C.UTF-8"}
        return Box(_sandbox(rung), work, home, outside, policy, env)

    return make


@pytest.fixture(params=[Rung.BWRAP, Rung.LANDLOCK])
def box(request: pytest.FixtureRequest, box_on) -> Box:
    """A box on each rung in turn."""
    return box_on(request.param)


@pytest.fixture
def bwrap(box_on) -> Box:
    return box_on(Rung.BWRAP)


@pytest.fixture
def landlock(box_on) -> Box:
    return box_on(Rung.LANDLOCK)


@pytest.fixture
def victim() -> Iterator[subprocess.Popen[bytes]]:
    """A process of this user outside every sandbox, with a secret in its environment."""
    process = subprocess.Popen(["/bin/sleep", "600"], env={"TOKEN": "SECRET TOKEN"})
    yield process
    process.kill()
    process.wait()
