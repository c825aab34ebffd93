"""The same promises on every rung that this machine has."""

import os
import signal
import threading

import pytest

from deskagent.terminal.process import Process
from deskagent.terminal.pty import PtySession
from deskagent.terminal.sandbox import SandboxError, find_sandbox
from deskagent.terminal.spawn import run
from deskagent.terminal.types import End, Limits, Policy, Rung

BOUND = Limits(seconds=60)


@pytest.fixture(params=[Rung.BWRAP, Rung.LANDLOCK])
def confined(request, tmp_path):
    try:
        sandbox = find_sandbox(request.param)
    except SandboxError as error:
        pytest.skip(str(error))
    return {"sandbox": sandbox, "policy": Policy(writable=(tmp_path,))}


def test_output_code_and_rung(sh, confined, tmp_path):
    result = run(sh("pwd; echo $HOME; echo x > file; exit 3"), limits=BOUND, **confined)
    assert (result.end, result.code, result.rung) == (End.EXITED, 3, confined["sandbox"].rung)
    assert result.text == f"{tmp_path}\n{os.environ['HOME']}\n"
    assert (tmp_path / "file").exists()


def test_not_found(command, confined, tmp_path):
    (tmp_path / "no-interpreter").write_text("#!/nonesuch/x\n")
    (tmp_path / "no-interpreter").chmod(0o755)
    assert run(command("nonesuch-4711"), limits=BOUND, **confined).end is End.NOT_FOUND
    assert run(command("./no-interpreter"), limits=BOUND, **confined).end in (End.NOT_FOUND, End.EXITED)
    assert run(command("sh", "-c", "nonesuch-4711"), limits=BOUND, **confined).code == 127


def test_only_the_named_descriptors(py, confined):
    result = run(
        py("import os; print(sorted(map(int, os.listdir('/proc/self/fd')))[:-1])"), limits=BOUND, **confined
    )
    assert result.text == "[0, 1, 2]\n"


@pytest.mark.parametrize("line", ["exit 0", "trap '' TERM; sleep {t}; sleep {t}"])
def test_nothing_outlives_it(sh, confined, marked, line):
    escapes = "setsid sleep {t} &\n( trap '' TERM HUP; sleep {t} ) &\n( setsid sh -c 'sleep {t} & exit' & )\n"
    escapes += "sleep 0.1\n"
    run(sh((escapes + line).format(t=marked.token)), limits=Limits(seconds=1), **confined)
    assert marked.alive() == []


def test_time_to_tidy_up_after_a_timeout(sh, confined, once, tmp_path):
    line = "trap 'echo tidy > done; exit 0' TERM; while :; do sleep 0.01; done"
    result = once(lambda limits: run(sh(line), limits=limits, **confined), (tmp_path / "done").exists)
    assert result.end is End.TIMEOUT
    assert (tmp_path / "done").read_text() == "tidy\n"


def test_memory_and_processes(py, sh, confined):
    code = "x = bytearray(400 << 20); import time; time.sleep(30)"
    assert run(py(code), limits=Limits(memory=200 << 20), **confined).end is End.MEMORY
    line = "for i in $(seq 40); do sleep 30 & done; wait"
    assert run(sh(line), limits=Limits(processes=20), **confined).end is End.PROCESSES


def test_a_command_that_kills_its_parent(sh, confined, marked):
    result = run(
        sh(f"kill -9 $PPID; setsid sleep {marked.token} & sleep 0.1; echo alive"), limits=BOUND, **confined
    )
    assert result.text.endswith("alive\n")
    assert marked.alive() == []


def test_kill_9_of_the_supervisor(sh, confined, marked):
    line = f"setsid sleep {marked.token} & sleep {marked.token}"
    process = Process(sh(line), confined["sandbox"], confined["policy"], BOUND, None)
    assert len(marked.wait(2)) == 2
    os.kill(process._child.supervisor_pid, signal.SIGKILL)
    assert process.wait(60).end is End.SIGNALED
    assert marked.alive() == []
    process.close()


def test_cancel(sh, confined):
    cancel = threading.Event()
    threading.Timer(0.3, cancel.set).start()
    assert run(sh("sleep 60"), cancel=cancel, **confined).end is End.CANCELLED


@pytest.mark.parametrize("line", ["printf 'Name: '; read x", "printf 'Name: '; read x < /dev/tty"])
def test_waiting_for_input(sh, confined, line):
    result = run(sh(line, pty=True), limits=BOUND, **confined)
    assert result.end is End.WAITING
    assert "Name:" in result.detail


def test_a_terminal(py, confined, free):
    code = (
        "import os, signal, sys\n"
        "show = lambda *_: print('size', *os.get_terminal_size(), flush=True)\n"
        "signal.signal(signal.SIGWINCH, show); show()\n"
        "print(open('/dev/tty').readline())"
    )
    with PtySession(py(code, pty=True), **confined) as session:
        session.expect("size 80 24", 60)
        session.resize(33, 44)
        session.expect("size 44 33", 60)
        session.write(b"typed\r")
        session.expect("typed\r\n\r\n", 60)
        assert session.wait(60).code == 0


def test_a_conversation_with_a_process(command, confined):
    with Process(command("cat"), confined["sandbox"], confined["policy"], Limits(), None) as process:
        process.send(b"hello\n")
        assert process.stdout.line(60) == b"hello\n"
        process.end_input()
        assert process.wait(60).code == 0
