"""How commands start, end and print."""

import os
import resource
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from deskagent.terminal.sandbox import SandboxError, Wrapped
from deskagent.terminal.spawn import run
from deskagent.terminal.types import End, Limits, Rung


def test_both_streams_and_the_exit_code(sh, free):
    result = run(sh("echo one; echo two >&2; exit 3"), **free)
    assert (result.end, result.code, result.text, result.total) == (End.EXITED, 3, "one\ntwo\n", 8)
    assert result.rung is Rung.NONE


def test_death_by_a_signal(sh, free):
    result = run(sh("kill -SEGV $$"), **free)
    assert (result.end, result.code) == (End.SIGNALED, 128 + signal.SIGSEGV)
    assert "SIGSEGV" in result.detail


def test_signals_are_as_in_a_shell(py, free):
    ignored = "[n for n in s.valid_signals() if s.getsignal(n) == s.SIG_IGN]"
    code = f"import signal as s; print({ignored}, s.pthread_sigmask(0, []))"
    result = run(py(code), **free)
    # Python itself ignores these two at its start.
    assert result.text == f"[{signal.Signals.SIGPIPE!r}, {signal.Signals.SIGXFSZ!r}] set()\n"


class TestNotFound:
    @pytest.mark.parametrize(
        ("argv", "code", "says"),
        [
            (("nonesuch-4711",), 127, "command not found"),
            (("./nonesuch",), 127, "no such file"),
            (("./plain",), 126, "not executable"),
            (("./folder",), 126, "is a folder"),
            (("./no-interpreter",), 127, "interpreter"),
            (("./binary",), 126, "not a program for this machine"),
            (("echo", "a\0b"), 126, "NUL"),
            (("echo", "\ud800"), 126, "encoded"),
            (("",), 127, "empty"),
            ((), 127, "empty"),
        ],
    )
    def test_commands(self, command, free, tmp_path, argv, code, says):
        (tmp_path / "plain").write_text("#!/bin/sh\n")
        (tmp_path / "folder").mkdir()
        for name, content in (("no-interpreter", b"#!/nonesuch/x\n"), ("binary", b"\x7fELF\0\0\0\0rubbish")):
            (tmp_path / name).write_bytes(content)
            (tmp_path / name).chmod(0o755)
        result = run(command(*argv), **free)
        assert (result.end, result.code) == (End.NOT_FOUND, code)
        assert says in result.detail
        assert result.total == 0

    def test_a_shells_own_127_is_an_exit(self, sh, free):
        result = run(sh("nonesuch-4711"), **free)
        assert (result.end, result.code) == (End.EXITED, 127)
        assert "nonesuch-4711" in result.text

    @pytest.mark.parametrize("name", ["absent", "file"])
    def test_working_folder(self, sh, free, tmp_path, name):
        (tmp_path / "file").touch()
        result = run(sh("true", cwd=tmp_path / name), **free)
        assert (result.end, result.code) == (End.NOT_FOUND, 126)
        assert str(tmp_path / name) in result.detail

    def test_names_of_variables(self, sh, free):
        assert run(sh("true", env={"a=b": "c"}), **free).end is End.NOT_FOUND
        assert run(sh("true", env={"a": "b\0"}), **free).end is End.NOT_FOUND

    def test_too_long(self, command, free):
        result = run(command("true", "x" * (4 << 20)), **free)
        assert (result.end, result.code) == (End.NOT_FOUND, 126)
        assert "too long" in result.detail


def test_a_script_without_its_first_line_runs_as_in_a_shell(command, free, tmp_path):
    (tmp_path / "script").write_text("echo $1")
    (tmp_path / "script").chmod(0o755)
    assert run(command("./script", "hello"), **free).text == "hello\n"


def test_names_and_folders_that_are_not_utf8(command, free, tmp_path):
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    result = run(command("sh", "-c", 'pwd; printf %s "$0"', os.fsdecode(b"\xff"), cwd=folder), **free)
    assert result.head == os.fsencode(folder) + b"\n\xff"


class TestInput:
    def test_none_is_the_end(self, command, free):
        assert run(command("cat"), limits=Limits(seconds=20), **free).total == 0

    def test_bytes_of_any_size(self, command, free):
        data = os.urandom(3_000_000)
        seen = bytearray()
        result = run(command("cat"), stdin=data, on_output=seen.extend, **free)
        assert result.end is End.EXITED
        assert seen == data

    def test_empty_is_the_end_too(self, command, free):
        assert run(command("wc", "-c"), stdin=b"", limits=Limits(seconds=20), **free).text.strip() == "0"

    def test_a_command_that_does_not_read(self, command, free):
        assert run(command("true"), stdin=b"x" * 5_000_000, **free).code == 0

    def test_no_terminal_is_in_reach(self, sh, free):
        assert run(sh("exec 3</dev/tty"), limits=Limits(seconds=20), **free).code != 0


class TestOutput:
    def test_a_gigabyte_in_bounded_memory(self, sh, free, tmp_path):
        path = tmp_path / "out"
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        result = run(
            sh("head -c 1G /dev/zero; echo end"), output_path=path, limits=Limits(output=5 << 20), **free
        )
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        assert (result.total, result.end) == ((1 << 30) + 4, End.EXITED)
        assert path.stat().st_size == 5 << 20
        assert result.tail.endswith(b"\0end\n")
        assert len(result.head) == len(result.tail) == 64 << 10
        assert grown < 32

    def test_the_file_holds_the_whole_and_is_private(self, sh, free, tmp_path):
        path = tmp_path / "out"
        path.write_text("of an earlier run, and longer" * 100)
        path.chmod(0o644)
        result = run(sh("printf 'a\\r\\nb\\0'; printf 'caf\\351'"), output_path=path, **free)
        assert path.read_bytes() == result.head == b"a\r\nb\0caf\xe9"
        assert path.stat().st_mode & 0o777 == 0o600
        assert result.output_path == path

    def test_endless_output_ends_in_time(self, command, free):
        result = run(command("yes"), limits=Limits(seconds=0.5), **free)
        assert result.end is End.TIMEOUT
        assert result.total > 1 << 20

    def test_progress_without_newlines(self, py, free):
        result = run(py("for i in range(50000): print(i, end='\\r')"), **free)
        assert result.tail.endswith(b"49999\r")

    def test_a_file_that_fails_costs_the_file_alone(self, sh, free):
        full = Path("/dev/full")
        if not full.exists():
            pytest.skip("no /dev/full")
        result = run(sh("echo hello"), output_path=full, **free)
        assert (result.code, result.text) == (0, "hello\n")
        assert "No space left" in result.detail

    def test_a_link_is_not_followed(self, sh, free, tmp_path):
        (tmp_path / "target").write_text("precious")
        (tmp_path / "out").symlink_to(tmp_path / "target")
        with pytest.raises(OSError):
            run(sh("echo hello"), output_path=tmp_path / "out", **free)
        assert (tmp_path / "target").read_text() == "precious"

    def test_pieces_come_as_they_are_printed(self, sh, free, tmp_path):
        seen = []

        def saw(data):
            seen.append(data)
            (tmp_path / "seen").touch()

        run(sh("echo 1; until [ -e seen ]; do sleep 0.01; done; echo 2"), on_output=saw, **free)
        assert seen == [b"1\n", b"2\n"]


class TestCancel:
    def test_it_ends_soon(self, command, free):
        cancel = threading.Event()
        threading.Timer(0.2, cancel.set).start()
        began = time.monotonic()
        result = run(command("sleep", "60"), cancel=cancel, **free)
        assert result.end is End.CANCELLED
        assert time.monotonic() - began < 55

    def test_before_the_start(self, command, free):
        cancel = threading.Event()
        cancel.set()
        assert run(command("sleep", "60"), cancel=cancel, **free).end is End.CANCELLED

    def test_during_a_flood(self, command, free):
        cancel = threading.Event()
        threading.Timer(0.2, cancel.set).start()
        assert run(command("yes"), cancel=cancel, **free).end is End.CANCELLED

    def test_an_error_in_a_callback(self, sh, free, marked):
        def broken(_):
            raise RuntimeError("callback")

        with pytest.raises(RuntimeError, match="callback"):
            run(sh(f"echo; sleep {marked.token}"), on_output=broken, **free)
        assert marked.alive() == []


class TestInheritance:
    def test_no_descriptors(self, py, free):
        reading, writing = os.pipe()
        os.set_inheritable(writing, True)
        try:
            result = run(py("import os; print(sorted(map(int, os.listdir('/proc/self/fd')))[:-1])"), **free)
        finally:
            os.close(reading)
            os.close(writing)
        assert result.text == "[0, 1, 2]\n"

    def test_no_secrets_in_any_parent(self, py, free, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
        monkeypatch.setenv("LD_PRELOAD", "")
        code = (
            "import os\npid = 'self'\nfor _ in range(3):\n"
            "    print(open(f'/proc/{pid}/environ').read())\n"
            "    pid = open(f'/proc/{pid}/stat').read().rpartition(')')[2].split()[1]\n"
        )
        result = run(py(code), **free)
        assert result.code == 0
        assert "canary" not in result.text
        assert "LD_PRELOAD" not in result.text

    def test_nothing_secret_in_any_command_line(self, py, free):
        code = (
            "import os\npid = 'self'\nfor _ in range(3):\n"
            "    pid = open(f'/proc/{pid}/stat').read().rpartition(')')[2].split()[1]\n"
            "    print(open(f'/proc/{pid}/cmdline').read())\n"
        )
        assert "canary" not in run(py(code, env={"TOKEN": "canary"}), **free).text

    def test_own_session(self, py, free):
        result = run(py("import os; print(os.getsid(0) == os.getpid() == os.getpgrp())"), **free)
        assert result.text == "True\n"


class Wrapping:
    """A sandbox that hands over a descriptor and counts its cleanups."""

    rung = Rung.LANDLOCK

    def __init__(self, argv=None):
        self.argv = argv
        self.cleaned = 0
        self.fds = ()

    def wrap(self, argv, cwd, env, policy):
        reading, writing = os.pipe()
        os.write(writing, b"handed over")
        os.close(writing)
        self.fds = (reading,)
        return Wrapped(self.argv or argv, cwd, {**env, "FD": str(reading)}, self.fds, self.clean)

    def clean(self):
        self.cleaned += 1


class TestSandbox:
    def test_descriptors_and_cleanup(self, py, free):
        sandbox = Wrapping()
        code = "import os; print(os.read(int(os.environ['FD']), 99).decode(), end='')"
        result = run(py(code), sandbox=sandbox, policy=free["policy"])
        assert (result.text, result.rung, sandbox.cleaned) == ("handed over", Rung.LANDLOCK, 1)
        with pytest.raises(OSError):
            os.fstat(sandbox.fds[0])

    def test_cleanup_where_nothing_starts(self, sh, free):
        sandbox = Wrapping(("/nonesuch/wrapper",))
        assert run(sh("true"), sandbox=sandbox, policy=free["policy"]).end is End.NOT_FOUND
        assert sandbox.cleaned == 1

    def test_cleanup_after_an_error_of_ours(self, sh, free):
        sandbox = Wrapping()

        def broken(_):
            raise RuntimeError("callback")

        with pytest.raises(RuntimeError):
            run(sh("echo; sleep 60"), on_output=broken, sandbox=sandbox, policy=free["policy"])
        assert sandbox.cleaned == 1

    def test_a_sandbox_that_refuses(self, sh, free):
        class Refusing:
            rung = Rung.BWRAP

            def wrap(self, argv, cwd, env, policy):
                raise SandboxError("not here")

        result = run(sh("true"), sandbox=Refusing(), policy=free["policy"])
        assert (result.end, result.detail) == (End.SANDBOX, "not here")


def test_many_runs_at_once_leak_no_descriptor(command, free):
    run(command("true"), **free)
    before = sorted(os.listdir("/proc/self/fd"))  # noqa: PTH208
    codes = []

    def some():
        for i in range(50):
            codes.append(run(command("sh", "-c", "cat; exit 7"), stdin=b"x" * i, **free).code)

    threads = [threading.Thread(target=some) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for bad in (command("nonesuch"), command("./x"), command("x" * 300)):
        run(bad, **free)
    assert codes == [7] * 200
    assert sorted(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_the_supervisor_imports_little(py, free):
    code = (
        "import sys; sys.meta_path[:] = [finder for finder in sys.meta_path if isinstance(finder, type)]\n"
        "before = set(sys.modules); import deskagent.terminal.supervisor\n"
        "print(sorted(m for m in set(sys.modules) - before if not m.startswith('deskagent')))"
    )
    result = run(py(f"import sys; sys.path[:0] = {sys.path!r}\n{code}"), **free)
    # What site would have loaded anyway doesn't count here, nor what an editable install finds modules by.
    assert set(eval(result.text)) <= {"select", "marshal", "__future__", "time"}
