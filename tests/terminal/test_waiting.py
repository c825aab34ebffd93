"""Who waits for input, and who only looks like it."""

import shutil

import pytest

from deskagent.terminal import waiting
from deskagent.terminal.spawn import run
from deskagent.terminal.types import End, Limits
from deskagent.terminal.waiting import Watcher, last_line, looks_like_prompt

BOUND = Limits(seconds=60)

ASKING = {
    "input": "input('Your name: ')",
    "bare read": "import sys; print('Your name: ', end='', flush=True); sys.stdin.buffer.raw.read(1)",
    "no prompt": "import sys; print('working on it', flush=True); sys.stdin.readline()",
    "no echo": "import getpass; getpass.getpass('Your name: ')",
    "another thread": (
        "import threading; t = threading.Thread(target=input, args=('Your name: ',)); t.start(); t.join()"
    ),
    "a child": "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input(\"Your name: \")'])",
    "select": "import select, sys; print('Your name: ', end='', flush=True); select.select([sys.stdin], [], [])",
    "poll": (
        "import select; print('Your name: ', end='', flush=True); p = select.poll(); p.register(0, 1); p.poll()"
    ),
    "epoll": (
        "import select; print('Your name: ', end='', flush=True); p = select.epoll(); p.register(0, 1); p.poll()"
    ),
    "single key": "import tty, os; print('Your name', flush=True); tty.setcbreak(0); os.read(0, 1)",
}


@pytest.mark.parametrize("how", ASKING)
def test_a_question(py, free, how):
    result = run(py(ASKING[how], pty=True), limits=BOUND, **free)
    assert result.end is End.WAITING
    assert ("working on it" if how == "no prompt" else "Your name") in result.detail
    assert "python" in result.detail


IDLE = {
    "sleeps": "import time; print('Downloading:', end=' ', flush=True); time.sleep(1.8)",
    "computes": "import time; print('>', end=' ', flush=True); t = time.time()\nwhile time.time() < t + 1.8: pass",
    "event loop": "import select, time; print('listening', flush=True); select.select([0], [], [], 1.8)",
    "child at work": (
        "import subprocess, sys, threading; print('> ', end='', flush=True)\n"
        "threading.Thread(target=sys.stdin.readline, daemon=True).start()\n"
        "subprocess.run([sys.executable, '-c', 'import time; t = time.time()\\nwhile time.time() < t + 1.8: pass'])\n"
        "import os; os._exit(0)"
    ),
}


@pytest.mark.parametrize("how", IDLE)
def test_no_question(py, free, how):
    result = run(py(IDLE[how], pty=True), limits=BOUND, **free)
    assert (result.end, result.code) == (End.EXITED, 0)


def test_answers(py, free):
    asked = []

    def answer(question):
        asked.append(question.printed)
        return {"Name:": b"Ada\r", "Sure? [y/N]": b"y\r"}[question.printed]

    code = "name = input('Name: '); sure = input('Sure? [y/N] '); print('got', name, sure)"
    result = run(py(code, pty=True), on_waiting=answer, limits=BOUND, **free)
    assert asked == ["Name:", "Sure? [y/N]"]
    assert result.text.endswith("got Ada y\r\n")


def test_what_is_given_beforehand_is_typed(py, free):
    result = run(py("print('got', input('Name: '))", pty=True), stdin=b"Ada\r", limits=BOUND, **free)
    assert "got Ada" in result.text


@pytest.mark.parametrize("program", ["vim", "nano", "less"])
def test_editors_and_pagers(command, free, tmp_path, program):
    if not shutil.which(program):
        pytest.skip(f"no {program}")
    (tmp_path / "file").write_text("".join(f"line {n}\n" for n in range(500)))
    result = run(command(program, "file", pty=True), limits=BOUND, **free)
    assert result.end is End.WAITING
    assert "full screen" in result.detail


def test_the_terminal_by_its_other_name(sh, free):
    result = run(sh("printf 'Go on? '; read x < /dev/tty", pty=True), limits=BOUND, **free)
    assert result.end is End.WAITING
    assert "Go on?" in result.detail


def test_by_looks_where_proc_is_silent(py, free, monkeypatch):
    monkeypatch.setattr(waiting, "_BY_NUMBER", {})
    monkeypatch.setattr(waiting, "_PATIENCE_GUESS", 1.0)
    assert run(py("input('Go on? ')", pty=True), limits=BOUND, **free).end is End.WAITING
    assert run(py("import time; print('working'); time.sleep(1.5)", pty=True), limits=BOUND, **free).code == 0


@pytest.mark.parametrize(
    ("printed", "line", "asks"),
    [
        (b"Password: ", "Password:", True),
        (b"\x1b[1mContinue?\x1b[0m ", "Continue?", True),
        (b"one\r\ntwo [y/N] ", "two [y/N]", True),
        (b"press any key to go on", "press any key to go on", True),
        (b"--More--(3%)", "--More--(3%)", True),
        (b"\x1b]0;title\x07root@host:~# ", "root@host:~#", True),
        (b"Done: all\r\n", "Done: all", False),
        (b"building", "building", False),
        (b"", "", False),
        (b"\xff\xfe\0", "��", False),
    ],
)
def test_prompts(printed, line, asks):
    assert last_line(printed) == line
    assert looks_like_prompt(printed) is asks


def test_full_screen_is_seen_across_pieces(tmp_path):
    watcher = object.__new__(Watcher)
    watcher._recent, watcher.full_screen = b"", False
    for piece in (b"x\x1b[?10", b"49h"):
        watcher.saw(piece)
    assert watcher.full_screen
    watcher.saw(b"\x1b[?1049l$ ")
    assert not watcher.full_screen
