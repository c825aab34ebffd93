"""Nothing outlives its run, whoever dies first."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import deskagent
from deskagent.terminal import tree
from deskagent.terminal.child import Child
from deskagent.terminal.process import Process
from deskagent.terminal.spawn import run
from deskagent.terminal.types import End, Limits

BEARABLE = 60.0  # seconds: far more than any of these may take, far less than what they would wait for
ESCAPES = {
    "background": "sleep {t} &",
    "own session": "setsid sleep {t} &",
    "double fork": "( ( sleep {t} & ) & )",
    "double fork, own session": "( setsid sh -c 'sleep {t} & exit' & )",
    "deaf to TERM": "( trap '' TERM HUP INT; sleep {t} ) &",
    "deaf and detached": "setsid sh -c 'trap \"\" TERM HUP INT; sleep {t}; sleep {t}' &",
    "stopped": "sleep {t} & kill -STOP $!",
    "empty environment": "env -i setsid sleep {t} &",
}


@pytest.mark.parametrize("kind", ESCAPES)
def test_after_a_plain_exit(sh, free, marked, kind):
    began = time.monotonic()
    result = run(sh(ESCAPES[kind].format(t=marked.token) + "\nsleep 0.05; echo done; exit 5"), **free)
    assert (result.end, result.code, result.text) == (End.EXITED, 5, "done\n")
    assert "left running" in result.detail
    assert marked.alive() == []
    assert time.monotonic() - began < BEARABLE


def test_after_a_timeout(sh, free, marked):
    escapes = "\n".join(line.format(t=marked.token) for line in ESCAPES.values())
    line = f"trap '' TERM\n{escapes}\nsleep {marked.token}; sleep {marked.token}"
    began = time.monotonic()
    result = run(sh(line), limits=Limits(seconds=0.5), **free)
    assert result.end is End.TIMEOUT
    assert marked.alive() == []
    assert time.monotonic() - began < BEARABLE  # 3 s on an idle machine


def test_time_to_tidy_up_after_a_timeout(sh, free, once, tmp_path):
    line = "trap 'echo tidy > done; exit 0' TERM; while :; do sleep 0.01; done"
    result = once(lambda limits: run(sh(line), limits=limits, **free), (tmp_path / "done").exists)
    assert (result.end, result.code) == (End.TIMEOUT, 0)
    assert (tmp_path / "done").read_text() == "tidy\n"


def test_a_command_that_kills_its_parent(sh, free, marked):
    result = run(sh(f"kill -9 $PPID; setsid sleep {marked.token} & sleep 0.1; echo alive; exit 4"), **free)
    assert (result.end, result.code, result.text) == (End.EXITED, 4, "alive\n")
    assert marked.alive() == []


def test_a_command_that_kills_its_group(sh, free):
    assert run(sh("kill -9 0"), **free).code == 128 + 9


def test_a_small_fork_bomb(py, free, marked):
    code = (
        "import os, sys, time\n"
        "for _ in range(7):\n    os.fork()\n"  # 128 at once
        f"os.execvp('sleep', ['sleep', '{marked.token}'])"
    )
    result = run(py(code), limits=Limits(processes=50), **free)
    assert result.end is End.PROCESSES
    assert marked.alive() == []


def test_a_fork_bomb_of_programs(command, free):
    # Ends by itself, for the machine's sake should this test fail.
    line = f"b() {{ [ $(date +%s) -lt {int(time.time()) + 30} ] || exit; b | b & }}; b; sleep 30"
    result = run(command("nice", "sh", "-c", line), limits=Limits(processes=60), **free)
    assert result.end is End.PROCESSES


def test_a_pipe_held_open_from_outside_is_not_waited_for(py, free, tmp_path):
    code = (
        "import array, socket, sys\ns = socket.socket(socket.AF_UNIX); s.connect('socket')\n"
        "print('passed', flush=True)\n"
        "s.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [1]))])"
    )
    import socket

    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        try:
            os.chdir(tmp_path)  # the path of a socket is short
            server.bind("socket")
        finally:
            os.chdir(here)
        server.listen()
        held = []

        def accept():
            connection, _ = server.accept()
            held.extend(socket.recv_fds(connection, 1, 1)[1])

        thread = threading.Thread(target=accept)
        thread.start()
        began = time.monotonic()
        result = run(py(code), **free)
        thread.join()
        assert held
        os.close(held[0])
    assert (result.end, result.text) == (End.EXITED, "passed\n")
    assert time.monotonic() - began < BEARABLE


PARENT = """
import sys
from pathlib import Path
from deskagent.terminal.environment import base_env
from deskagent.terminal.process import Process
from deskagent.terminal.pty import PtySession
from deskagent.terminal.sandbox import Unconfined
from deskagent.terminal.spawn import run, start
from deskagent.terminal.types import Command, Policy

how, line = sys.argv[1:]
command = Command(("sh", "-c", line), Path("/"), base_env(), pty=how == "pty")
free = {"sandbox": Unconfined(), "policy": Policy()}
if how == "run":
    run(command, **free)
child = start(command, **free) if how == "start" else PtySession(command, **free)
if how == "leave":
    sys.exit()
print("started", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def parent(marked):
    """Starts a Python that starts a command in some way; then the pids of the command's sleeps."""
    started = []

    def make(how, line):
        path = [str(Path(deskagent.__file__).parents[1]), *sys.path]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))}
        process = subprocess.Popen([sys.executable, "-c", PARENT, how, line], stdin=subprocess.PIPE, env=env)
        started.append(process)
        return process

    yield make
    for process in started:
        process.kill()
        process.wait()
        process.stdin.close()


@pytest.mark.parametrize("how", ["run", "start", "pty"])
def test_kill_9_of_the_parent(parent, marked, how):
    escapes = "\n".join(ESCAPES[kind].format(t=marked.token) for kind in ("own session", "deaf and detached"))
    process = parent(how, f"trap '' TERM HUP\n{escapes}\nsleep {marked.token}")
    # Two escaped, one of them inside a shell whose arguments don't count, and the last.
    assert len(marked.wait(3)) == 3
    process.kill()
    process.wait()
    assert marked.wait(0) == []


def test_a_parent_that_leaves_without_closing(parent, marked):
    process = parent("start", f"setsid sleep {marked.token} & sleep {marked.token}")
    assert len(marked.wait(2)) == 2
    process.stdin.close()
    process.stdin = subprocess.DEVNULL and open(os.devnull)  # noqa: PTH123, SIM115 - something to close
    process.wait()
    assert marked.wait(0) == []


def test_kill_9_of_the_supervisor(sh, free, marked, monkeypatch):
    pids = []
    original = Child._handshake

    def noted(self, *arguments):
        pids.append(self.supervisor_pid)
        return original(self, *arguments)

    monkeypatch.setattr(Child, "_handshake", noted)
    results = []
    line = f"setsid sleep {marked.token} & sleep {marked.token}"
    thread = threading.Thread(target=lambda: results.append(run(sh(line), **free)))
    thread.start()
    assert len(marked.wait(2)) == 2
    os.kill(pids[0], signal.SIGKILL)
    thread.join(60)
    assert results[0].end is End.SIGNALED
    assert "supervisor was killed" in results[0].detail
    assert marked.alive() == []


def test_a_supervisor_that_is_stopped(sh, free, marked):
    for seconds in (2, 10, 60):  # enough to see it start, however busy the machine
        process = Process(
            sh(f"sleep {marked.token}"), free["sandbox"], free["policy"], Limits(seconds=seconds), None
        )
        if len(marked.wait(1, seconds / 2)) == 1:
            break
        process.close()
    os.kill(process._child.supervisor_pid, signal.SIGSTOP)
    result = process.wait(120)
    assert result is not None
    assert result.end is End.TIMEOUT
    assert marked.alive() == []
    process.close()


def test_marks_reach_every_process(sh, free, marked):
    process = Process(
        sh(f"setsid sleep {marked.token} & wait"), free["sandbox"], free["policy"], Limits(), None
    )
    with process:
        sleeper = marked.wait(1)
        assert set(sleeper) < set(tree.marked(process._child._mark))
    assert tree.marked(process._child._mark) == []
