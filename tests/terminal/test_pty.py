"""Terminal sessions, driven like a person would."""

import gc
import os
import shutil
import threading
import time

import pexpect
import pytest

from deskagent.terminal.child import StartError
from deskagent.terminal.pty import PtySession
from deskagent.terminal.types import Command, End, Limits


@pytest.fixture
def session(free):
    """Opens sessions and closes them."""
    opened = []

    def make(command, **more):
        opened.append(PtySession(command, **free, **more))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


@pytest.fixture
def shell(sh, session):
    made = session(sh("PS1='$ ' exec sh -i", pty=True))
    made.expect(r"[$#] ", 60)
    return made


def test_a_dialogue(shell):
    shell.write(b"echo $((6*7)); tty; exit 3\r")
    assert shell.expect([r"\b42\r\n", "never"], 60) == 0
    shell.expect(pexpect.EOF, 60)
    result = shell.wait(60)
    assert (result.end, result.code) == (End.EXITED, 3)
    assert b"/dev/" in shell.expected.before


def test_expect_gives_up(shell):
    with pytest.raises(pexpect.TIMEOUT):
        shell.expect("never", 0.2)
    shell.write(b"exit\r")
    with pytest.raises(pexpect.EOF):
        shell.expect("never", 60)


def test_read_and_its_ends(py, session):
    asks = session(py("print('hello'); input()", pty=True))
    seen = b""
    while b"hello\r\n" not in seen:
        seen += asks.read(60)
    with pytest.raises(TimeoutError):
        asks.read(0.1)
    asks.write(b"\r")
    while asks.read(60):
        pass
    assert asks.read(0.1) == b""
    with pytest.raises(BrokenPipeError):
        asks.write(b"x")


def test_size_and_resize(py, free, session, tmp_path):
    code = (
        "import os, signal, sys\n"
        "show = lambda *_: print('size', *os.get_terminal_size(), flush=True)\n"
        "signal.signal(signal.SIGWINCH, show); show()\nwhile True: signal.pause()"
    )
    plain = py(code)
    made = session(Command(plain.argv, tmp_path, plain.env, pty=True, size=(11, 222)))
    made.expect("size 222 11", 60)
    made.resize(33, 44)
    made.expect("size 44 33", 60)
    assert len(made.screen(60).lines) == 33


def test_keys_that_signal(py, session):
    made = session(py("import time; print('ready', flush=True); time.sleep(60)", pty=True))
    made.expect("ready", 60)
    made.write(b"\x03")
    made.expect("KeyboardInterrupt", 60)
    assert made.wait(60).end is End.SIGNALED


def test_job_control(shell, marked):
    shell.write(f"sleep {marked.token}\r".encode())
    assert len(marked.wait(1)) == 1
    shell.write(b"\x1a")
    assert shell.expect("(?i)stopped", 60) == 0
    shell.write(b"jobs; kill %1\r")
    assert shell.expect(r"[$#] ", 60) == 0


def test_screen_of_an_editor(command, session, tmp_path):
    if not shutil.which("vim"):
        pytest.skip("no vim")
    (tmp_path / "file").write_text("first\nsecond\n")
    made = session(command("vim", "-u", "NONE", "file", pty=True))
    made.expect("second", 60)
    shown = made.screen(60)
    assert shown.full_screen
    assert [line.rstrip() for line in shown.lines[:3]] == ["first", "second", "~"]
    made.write(b"Gothird\x1b:wq\r")
    assert made.wait(60).code == 0
    assert (tmp_path / "file").read_text() == "first\nsecond\nthird\n"
    assert not made.screen(60).full_screen


def test_questions_of_programs_are_answered(py, session):
    code = (
        "import sys, tty, os\nmode = tty.setraw(0)\nos.write(1, b'ab\\x1b[6n')\n"
        "got = b''\nwhile not got.endswith(b'R'): got += os.read(0, 1)\nprint('got', got[1:])"
    )
    assert session(py(code, pty=True)).expect(r"\[1;3R", 60) == 0


def test_waiting_is_told_and_over_after_an_answer(py, session):
    made = session(py("input('Name: '); print('thanks'); import time; time.sleep(60)", pty=True))
    made.expect("Name: ", 60)
    until = time.monotonic() + 60
    while not (found := made.waiting()) and time.monotonic() < until:
        time.sleep(0.05)
    assert (found.how, found.printed) == ("read", "Name:")
    made.write(b"x\r")
    made.expect("thanks", 60)
    while made.waiting() and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(1.2)
    assert made.waiting() is None


def test_a_flood_stalls_nobody(sh, session, tmp_path):
    made = session(
        sh("head -c 3M /dev/zero | tr '\\0' a; echo; echo end", pty=True), output_path=tmp_path / "out"
    )
    result = made.wait(60)
    assert result.total == (3 << 20) + 7
    assert (tmp_path / "out").stat().st_size == result.total
    assert "end" in made.screen(60).text
    assert len(made.read(1)) <= 1 << 20


def test_callbacks_come_from_other_threads(sh, session):
    seen, shown = [], []
    made = session(
        sh("echo hello", pty=True),
        on_output=lambda data: seen.append((data, threading.current_thread())),
    )
    stop = made.watch(lambda: shown.append((made.screen().text, threading.current_thread())))
    made.wait(60)
    made.screen(60)
    assert b"".join(data for data, _ in seen) == b"hello\r\n"
    assert made.screen().text == "hello"
    assert threading.current_thread() not in {thread for _, thread in seen + shown}
    stop()


def test_who_watches_learns_of_changes_until_it_stops(sh, session):
    made = session(sh("read x; echo got $x; read y", pty=True))
    changed, other = threading.Event(), threading.Event()
    stop = made.watch(lambda: changed.set() if "got it" in made.screen().text else None)
    made.watch(other.set)()
    made.write(b"it\r")
    assert changed.wait(60)
    stop()
    changed.clear()
    made.write(b"\r")
    made.wait(60)
    assert not changed.is_set() and not other.is_set()


def test_closing_ends_all(sh, session, marked):
    made = session(sh(f"trap '' HUP TERM; setsid sleep {marked.token} & sleep {marked.token}", pty=True))
    assert len(marked.wait(2)) == 2
    assert made.close().end is End.CANCELLED
    assert marked.alive() == []
    assert made.close().end is End.CANCELLED
    with pytest.raises(BrokenPipeError):
        made.write(b"x")


def test_limits_hold(sh, session):
    assert session(sh("sleep 60", pty=True), limits=Limits(seconds=0.3)).wait(60).end is End.TIMEOUT


def test_what_cannot_start_leaks_nothing(command, session):
    gc.collect()  # what earlier tests left in cycles would be closed in between
    before = sorted(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for _ in range(3):
        with pytest.raises(StartError):
            session(command("nonesuch-4711", pty=True))
    for _ in range(3):
        session(command("true", pty=True)).close()
    assert sorted(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
