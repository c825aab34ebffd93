"""Rungs are found by trying: what doesn't confine isn't taken for a sandbox."""

from __future__ import annotations

import marshal
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from deskagent.terminal.sandbox import SandboxError, Unconfined, find_sandbox, no_sandbox, probe
from deskagent.terminal.sandbox.base import Wrapped
from deskagent.terminal.sandbox.bwrap import Bubblewrap
from deskagent.terminal.sandbox.probe import _programs, _try
from deskagent.terminal.types import Rung


@pytest.mark.parametrize("rung", list(Rung))
def test_a_rung_can_be_forced(rung: Rung, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESKAGENT_SANDBOX", rung.value)
    try:
        assert find_sandbox().rung is rung
    except SandboxError as error:  # then it says that it doesn't work, and takes no weaker one
        assert rung is not Rung.NONE and error.exit_code == 2


def test_an_unknown_rung_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESKAGENT_SANDBOX", "strong")
    with pytest.raises(SandboxError, match="strong"):
        find_sandbox()


def test_the_strongest_is_taken() -> None:
    report = probe()
    assert [rung.rung for rung in report.rungs] == [Rung.BWRAP, Rung.LANDLOCK]
    assert find_sandbox().rung is report.best
    assert report.best is next((rung.rung for rung in report.rungs if rung.works), Rung.NONE)
    assert all(rung.works or rung.found for rung in report.rungs)


def test_nothing_confines_like_unconfined() -> None:
    fault = _try(Unconfined())
    for text in ("write outside", "change a mode", "read a secret", "connect"):
        assert text in fault


class Leaky:
    """Confines as bubblewrap does but for one thing."""

    rung = Rung.BWRAP

    def __init__(self, change) -> None:
        self._change = change

    def wrap(self, argv, cwd, env, policy) -> Wrapped:
        sandbox = find_sandbox(prefer=Rung.BWRAP)
        return sandbox.wrap(argv, cwd, env, self._change(policy))


@pytest.mark.parametrize(
    ("field", "text"), [("network", "connect"), ("hidden", "read a secret"), ("writable", "write outside")]
)
def test_one_hole_is_enough_to_fail(field: str, text: str) -> None:
    changes = {"network": True, "hidden": (), "writable": None}
    if find_sandbox().rung is not Rung.BWRAP:
        pytest.skip("bubblewrap doesn't work here")

    def change(policy):
        value = policy.readable if field == "writable" else changes[field]
        return replace(policy, **{field: value})

    assert text in _try(Leaky(change))


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("exit 1", "ended with 1"),
        ("echo bwrap: No permissions >&2; exit 1", "No permissions"),
        ("exit 0", "ended with 0"),
    ],
)
def test_a_broken_bubblewrap(tmp_path: Path, script: str, text: str) -> None:
    program = tmp_path / "bwrap"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    assert text in _try(Bubblewrap(program))
    assert _try(Bubblewrap(tmp_path / "absent"))


@pytest.mark.parametrize(
    "broken", [{"filter": b"garbage!"}, {"rules": [("/", "everything")]}, {"cwd": "/absent"}]
)
def test_a_launcher_that_can_t_confine_starts_nothing(landlock, broken: dict) -> None:
    """Whatever step fails, no command runs without its sandbox."""
    wrapped = landlock.sandbox.wrap(("/bin/touch", "ran"), landlock.work, landlock.env, landlock.policy)
    (fd,) = wrapped.fds
    job = marshal.loads(os.pread(fd, 1 << 24, 0)) | broken
    os.ftruncate(fd, 0)
    os.pwrite(fd, marshal.dumps(job), 0)
    done = subprocess.run(
        wrapped.argv, env={}, pass_fds=(fd,), cwd=landlock.work, capture_output=True, check=False
    )
    os.close(fd)
    wrapped.cleanup()
    assert done.returncode == 126
    assert b"deskagent: the sandbox could not" in done.stderr
    assert list(landlock.work.iterdir()) == []


def test_no_program_of_a_project_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`bwrap` in a virtual environment's bin that stands first on PATH, or in the working folder."""
    evil = tmp_path / "bwrap"
    evil.write_text("#!/bin/sh\n")
    evil.chmod(0o777)
    monkeypatch.setenv("PATH", f"{tmp_path}:.:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    assert evil not in list(_programs("bwrap"))


def test_the_words_for_a_run_that_can_t_ask() -> None:
    error = no_sandbox()
    assert error.exit_code == 2
    assert "--permission-mode full" in str(error)


def test_it_is_found_once_a_process() -> None:
    assert find_sandbox() is find_sandbox() or find_sandbox().rung is Rung.NONE


def test_a_hostile_python_path_changes_nothing(tmp_path: Path) -> None:
    """The launcher imports no module of the working folder."""
    for name in ("marshal", "os", "kernel", "watcher", "_socket", "ctypes", "struct"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write('{name} ')")
    code = (
        "from deskagent.terminal.sandbox.probe import _try\n"
        "from deskagent.terminal.sandbox.landlock import Landlock\n"
        "from deskagent.terminal.sandbox.confine import kernel\n"
        "print(_try(Landlock(kernel.landlock_version())))"
    )
    root = Path(__file__).parents[3]
    subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, (str(root), os.environ.get("PYTHONPATH")))),
        },
        check=True,
    )
    assert not (tmp_path / "ran").exists()
