"""Workers that die, runs that end early, and where the exact command alone decides."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

import pytest

from deskagent.repair.cold import run_cold
from deskagent.repair.command import TestCommand
from deskagent.repair.slot import Closed
from deskagent.repair.types import Status
from deskagent.terminal.sandbox import Unconfined

# Plugins of the environment that runs these tests would only cost time.
BARE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def test_a_worker_that_is_killed_by_a_test_is_replaced(project: Path, verifier_of, source, fixed) -> None:
    verifier = verifier_of(project)
    verifier.baseline()
    deadly = source.replace("if value", "os.kill(os.getppid(), 9)\n    if value")
    stopping = source.replace("if value", "os.closerange(3, 5000)\n    if value")
    assert verifier.submit({"shop.py": deadly.encode()}).result(240).status is Status.CRASHED
    assert verifier.submit({"shop.py": stopping.encode()}).result(240).status is Status.CRASHED
    assert verifier.submit({"shop.py": fixed.encode()}).result(240).status is Status.GREEN


def test_nothing_that_a_candidate_starts_is_left(project: Path, verifier_of, tmp_path: Path, fixed) -> None:
    note = tmp_path / "pid"
    verifier = verifier_of(project)
    verifier.baseline()
    started = f"""\
    reader, writer = os.pipe()
    if not os.fork():
        os.setsid()
        if os.fork():
            os._exit(0)
        open({str(note)!r}, "w").write(str(os.getpid()))
        os.write(writer, b"x")
        os.execvp("sleep", ["sleep", "600"])
    os.read(reader, 1)
    if value"""
    daemon = fixed.replace("    if value", started, 1)
    verdict = verifier.submit({"shop.py": daemon.encode()}).result(240)
    assert verdict.status is Status.GREEN
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), 0)


def test_a_flood_of_output_and_of_memory_is_survived(project: Path, verifier_of, fixed) -> None:
    verifier = verifier_of(project)
    verifier.baseline()
    flood = fixed.replace("    if value", "    os.write(1, b'x' * (1 << 24))\n    if value")
    hungry = fixed.replace("    if value", "    [b'x' * (1 << 32)]\n    if value")
    assert verifier.submit({"shop.py": flood.encode()}).result(240).status is Status.GREEN
    assert verifier.submit({"shop.py": hungry.encode()}).result(240).status is not Status.GREEN
    assert verifier.submit({"shop.py": fixed.encode()}).result(240).status is Status.GREEN


def test_closing_during_the_first_look(project: Path, verifier_of, write) -> None:
    write(project, {"test_slow.py": "import time\n\ndef test_slow():\n    time.sleep(600)\n"})
    verifier = verifier_of(project, slots=2)
    threading.Timer(0.3, verifier.close).start()
    begun = time.monotonic()
    with pytest.raises(Closed):
        verifier.baseline(test_seconds=300)
    assert time.monotonic() - begun < 120


def test_closing_ends_everything_at_once(project: Path, verifier_of, source) -> None:
    slow = source.replace("    if value", "    import time; time.sleep(600)\n    if value")
    verifier = verifier_of(project, slots=2)
    verifier.baseline()
    futures = [verifier.submit({"shop.py": f"{slow}# {n}".encode()}) for n in range(4)]
    time.sleep(0.3)
    begun = time.monotonic()
    verifier.close()
    assert time.monotonic() - begun < 120
    for future in futures:
        with pytest.raises(Closed):
            future.result(60)
    assert not [t for t in threading.enumerate() if t.name.startswith("test slot")]


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (TestCommand("make test", ("sh", "-c", f"{sys.executable} -m pytest -q"), "command", env=BARE), "known Python"),
        (TestCommand("x", (sys.executable, "-m", "pytest"), "pytest", Path("/usr/bin/false"), env=BARE), "ended"),
        (
            TestCommand(
                "y", ("sh", "-c", f"{sys.executable} -m pytest -q test_shop.py && false"),
                "pytest", Path(sys.executable), ("-q", "test_shop.py", "-k", "double"), BARE,
            ),
            "exact command fails",
        ),
    ],
    ids=["no runner", "no worker", "passes warm"],
)  # fmt: skip
def test_where_no_worker_can_run_the_exact_command_decides(
    project: Path, verifier_of, command: TestCommand, reason: str, source, fixed
) -> None:
    verifier = verifier_of(project, command)
    baseline = verifier.baseline()
    assert not verifier.warm and reason in verifier.reason
    assert {r.id for r in baseline.failing} == {"test_shop.py::test_over", "test_shop.py::test_edge"}
    wanted = Status.RED if "false" in command.line + command.argv[-1] else Status.GREEN
    assert verifier.submit({"shop.py": fixed.encode()}).result(240).status is wanted
    assert verifier.submit({"shop.py": source.encode() + b"#"}).result(240).status is Status.RED


def test_a_cold_run_tells_what_the_exact_command_does(
    project: Path, source, write, with_pytest, fixed
) -> None:
    command = with_pytest("-q", module=False)
    write(project, {"pytest.ini": "[pytest]\npythonpath = .\n"})
    red = run_cold(project, command, sandbox=Unconfined())
    assert not red.green and red.result.code == 1
    assert {r.id for r in red.printed.failing} == {"test_shop.py::test_over", "test_shop.py::test_edge"}
    assert (red.printed.passed, red.printed.failed) == (4, 2)
    pieces: list[bytes] = []
    green = run_cold(
        project, command, sandbox=Unconfined(), files={"shop.py": fixed.encode()}, on_output=pieces.append
    )
    assert green.green and b"6 passed" in b"".join(pieces)
    assert (project / "shop.py").read_text() == source


def test_a_cold_run_can_be_cancelled(project: Path, write, with_pytest) -> None:
    write(project, {"test_shop.py": "import time\n\ndef test_slow():\n    time.sleep(600)\n"})
    cancel = threading.Event()
    threading.Timer(0.5, cancel.set).start()
    begun = time.monotonic()
    run = run_cold(project, with_pytest(), sandbox=Unconfined(), cancel=cancel)
    assert not run.green and time.monotonic() - begun < 120
