"""Long-lived processes over pipes."""

import gc
import os
import signal
import sys
import threading
import time

import pytest

from deskagent.terminal.child import StartError
from deskagent.terminal.spawn import start
from deskagent.terminal.types import End, Limits

ECHO = """
import sys
for line in sys.stdin.buffer:
    sys.stderr.write("seen\\n")
    sys.stdout.buffer.write(line.upper())
    sys.stdout.flush()
"""


@pytest.fixture
def echo(py, free):
    with start(py(ECHO), **free) as process:
        yield process


def test_a_conversation(echo):
    for word in (b"one\n", b"two\n", b"x" * 300_000 + b"\n"):
        echo.send(word, 60)
        assert echo.stdout.line(60) == word.upper()
    echo.end_input()
    result = echo.wait(60)
    assert (result.end, result.code, result.text) == (End.EXITED, 0, "seen\n" * 3)
    assert echo.stdout.line(60) == b""


def test_counted_bytes_and_lines_mix(echo):
    echo.send(b"length 5\nabc\ndefg\nend\n")
    assert echo.stdout.line(60) == b"LENGTH 5\n"
    assert echo.stdout.exactly(5, 60) == b"ABC\nD"
    assert echo.stdout.line(60) == b"EFG\n"
    echo.end_input()
    assert echo.stdout.exactly(100, 60) == b"END\n"


def test_silence_is_a_timeout_and_loses_nothing(py, free):
    code = "import time; print('half', end='', flush=True); input(); print(' whole')"
    with start(py(code), **free) as process:
        with pytest.raises(TimeoutError):
            process.stdout.line(0.5)
        assert process.wait(0) is None
        process.send(b"\n")
        assert process.stdout.line(60) == b"half whole\n"


def test_a_line_without_end(command, free):
    with start(command("cat", "/dev/zero"), **free) as process, pytest.raises(ValueError, match="bytes"):
        process.stdout.line(60, limit=1 << 20)


def test_sending_to_one_that_does_not_read(command, free):
    with start(command("sleep", "60"), **free) as process, pytest.raises(TimeoutError):
        process.send(b"x" * (8 << 20), 0.2)


def test_sending_to_one_that_has_ended(command, free):
    with start(command("true"), **free) as process:
        assert process.wait(60).code == 0
        with pytest.raises(BrokenPipeError):
            process.send(b"x" * (8 << 20), 60)
        process.end_input()
        with pytest.raises(BrokenPipeError):
            process.send(b"x")


def test_stderr_is_drained_and_capped(py, free, tmp_path):
    path = tmp_path / "errors"
    code = "import os; [os.write(2, b'e' * 100_000) for _ in range(100)]; os.write(2, b'last words'); print('ready')"
    with start(py(code), stderr_path=path, limits=Limits(output=1 << 20), **free) as process:
        assert process.stdout.line(60) == b"ready\n"
        result = process.wait(60)
        assert process.stderr.endswith(b"last words")
    assert (result.total, path.stat().st_size) == (10_000_010, 1 << 20)
    assert path.stat().st_mode & 0o777 == 0o600


def test_terminate_asks_before_it_kills(sh, free, tmp_path):
    line = "trap 'echo tidy > done; exit 3' TERM; echo ready; while :; do sleep 0.01; done"
    with start(sh(line), **free) as process:
        process.stdout.line(60)
        process.terminate(grace=60)
        result = process.wait(60)
    assert (result.end, result.code) == (End.CANCELLED, 3)
    assert (tmp_path / "done").exists()


def test_closing_kills_at_once_and_twice_does_no_harm(sh, free, marked):
    process = start(sh(f"trap '' TERM; setsid sleep {marked.token} & sleep {marked.token}"), **free)
    assert len(marked.wait(2)) == 2
    first = process.close()
    assert marked.alive() == []
    assert process.close() == first
    assert first.end is End.CANCELLED


def test_closing_while_another_thread_reads(command, free):
    process = start(command("sleep", "60"), **free)
    seen = []

    def read():
        try:
            seen.append(process.stdout.line(60))
        except (OSError, ValueError) as error:
            seen.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    time.sleep(0.1)
    process.terminate(0)
    thread.join(60)
    process.close()
    assert seen == [b""]


def test_limits_hold(sh, free):
    with start(sh("sleep 60"), limits=Limits(seconds=0.3), **free) as process:
        assert process.wait(60).end is End.TIMEOUT


def test_death_is_noticed(sh, free):
    with start(sh("kill -9 $$"), **free) as process:
        assert process.stdout.line(60) == b""
        result = process.wait(60)
    assert (result.end, result.code) == (End.SIGNALED, 128 + signal.SIGKILL)


def test_what_cannot_start_raises(command, free):
    with pytest.raises(StartError, match="not found"):
        start(command("nonesuch-4711"), **free)
    with pytest.raises(ValueError, match="PtySession"):
        start(command("true", pty=True), **free)


def test_no_descriptor_leaks(command, free):
    gc.collect()  # what earlier tests left in cycles would be closed in between
    before = sorted(os.listdir("/proc/self/fd")) if sys.platform == "linux" else []  # noqa: PTH208
    for _ in range(5):
        with start(command("cat"), **free) as process:
            process.send(b"x\n")
            process.stdout.line(60)
        with pytest.raises(StartError):
            start(command("nonesuch-4711"), **free)
    after = sorted(os.listdir("/proc/self/fd")) if sys.platform == "linux" else []  # noqa: PTH208
    assert after == before
