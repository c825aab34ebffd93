"""What must keep working inside: programs, temporary files, terminals, tests of a project as they are."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from deskagent.terminal.sandbox import Unconfined
from deskagent.terminal.types import Policy, Rung


@pytest.mark.parametrize(
    ("line", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 15), ("kill -SEGV $$", 11)]
)
def test_the_end_comes_through(box, line: str, code: int) -> None:
    done = box.shell(line)
    assert done.returncode in ((code,) if line.startswith("exit") else (-code, 128 + code))


def test_arguments_and_environment_come_through_whole(box) -> None:
    odd = ("", " two words ", "line\nbreak", "ünïcode ☃", "$HOME `id` $(id)", "--", "-x", "a" * 100_000)
    env = {"ODD": "line\nbreak ☃", "EMPTY": "", "LARGE": "x" * 100_000}
    code = (
        "import os, sys; print(end=ascii((sys.argv[1:], [os.environ[k] for k in ('ODD', 'EMPTY', 'LARGE')])))"
    )
    done = box.run(sys.executable, "-c", code, *odd, env=env)
    assert done.stdout == ascii((list(odd), list(env.values())))


def test_the_environment_can_t_be_seen_by_others(box) -> None:
    """Neither in the wrapper's arguments, which every user can read, nor in its environment."""
    wrapped = box.sandbox.wrap(("/bin/true",), box.work, {"TOKEN": "SECRET"}, box.policy)
    for fd in wrapped.fds:
        os.close(fd)
    wrapped.cleanup()
    assert "SECRET" not in str((wrapped.argv, dict(wrapped.env)))


def test_a_program_that_isn_t_there(box) -> None:
    done = box.run("/nowhere/program")
    assert done.returncode != 0
    assert "/nowhere/program" in done.stderr


def test_input_and_output_are_the_callers(box) -> None:
    done = box.run("/bin/cat", stdin=None, input="typed")
    assert done.stdout == "typed"


def test_the_end_of_output_is_seen_when_the_command_closes_it(box) -> None:
    """No process of the sandbox's own holds the pipe open."""
    if box.sandbox.rung is Rung.BWRAP:
        pytest.skip("bubblewrap's own process holds its standard streams until the end")
    read, write = os.pipe()
    wrapped = box.sandbox.wrap(("/bin/sh", "-c", "exec >&- 2>&-; read x"), box.work, box.env, box.policy)
    process = subprocess.Popen(
        wrapped.argv,
        cwd=wrapped.cwd,
        env={},
        pass_fds=wrapped.fds,
        stdin=subprocess.PIPE,
        stdout=write,
        stderr=write,
    )
    os.close(write)
    assert select.select([read], [], [], 30)[0] and os.read(read, 1) == b""
    assert process.poll() is None
    process.communicate(b"\n")
    os.close(read)
    for fd in wrapped.fds:
        os.close(fd)
    wrapped.cleanup()


def test_files_of_the_workspace(box) -> None:
    code = """
    import shutil, stat
    os.makedirs("a/b"); open("a/b/f", "w").write("x"); os.chmod("a/b/f", 0o640)
    shutil.copytree("a", "c"); os.rename("c/b/f", "a/g"); os.link("a/g", "h"); os.symlink("h", "s")
    os.utime("h", (1, 2)); os.chown("h", -1, os.getgid()); os.truncate("h", 0); os.replace("h", "a/b/f")
    os.utime("s", (3, 4), follow_symlinks=False)
    os.chmod("a/b/f", 0o600, dir_fd=os.open(".", os.O_RDONLY))
    os.fchmod(os.open("a/b/f", os.O_RDONLY), 0o644)
    f = open("a/b/f"); os.chmod(f"/proc/self/fd/{f.fileno()}", 0o600); os.utime(f.fileno(), ns=(5, 6))
    shutil.rmtree("c"); os.mkfifo("p")
    f = os.stat("a/b/f")
    print(oct(os.stat("a/g").st_mode), oct(f.st_mode), f.st_mtime_ns, os.lstat("s").st_mtime)
    for act in (lambda: os.chmod("absent", 0o600), lambda: os.utime("a/b/f/x"), lambda: os.chmod("", 0)):
        print(tried(act))
    """
    assert box.python(code).splitlines() == ["0o100600 0o100600 6 4.0", "ENOENT", "ENOTDIR", "ENOENT"]


def test_temporary_files(box) -> None:
    code = """
    import tempfile
    with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile() as file:
        open(folder + "/x", "w").close(); os.chmod(folder, 0o700); file.write(b"x")
        print(folder.startswith(os.environ.get("TMPDIR", "/tmp")))
    """
    assert box.python(code) == "True"
    assert box.python(code, env={"TMPDIR": "/absent"}) == "True"
    own = box.work / "tmp"
    own.mkdir()
    assert box.python("import tempfile; print(tempfile.gettempdir())", env={"TMPDIR": str(own)}) == str(own)


def test_temporary_files_are_gone_afterwards(landlock) -> None:
    line = 'mkdir -p "$TMPDIR/a/b"; touch "$TMPDIR/a/b/c"; chmod 0 "$TMPDIR/a/b" "$TMPDIR/a"; echo "$TMPDIR"'
    folder = Path(landlock.shell(line).stdout.strip())
    assert folder.name.startswith("deskagent-") and not folder.exists()


def test_processes_and_shared_memory(box) -> None:
    script = box.work / "pool.py"
    script.write_text(
        "import multiprocessing as m\n"
        "def f(x): return x * x\n"
        "if __name__ == '__main__':\n"
        "    from multiprocessing import shared_memory\n"
        "    for way in ('fork', 'spawn', 'forkserver'):\n"
        "        with m.get_context(way).Pool(2) as pool: print(sum(pool.map(f, range(4))))\n"
        "    s = shared_memory.SharedMemory(create=True, size=10); s.close(); s.unlink(); print(m.Lock().acquire())\n"
    )
    done = box.run(sys.executable, str(script))
    assert done.stdout.split() == ["14", "14", "14", "True"], done.stderr


def test_a_virtual_environment_in_the_temporary_folder(box, tmp_path: Path) -> None:
    """Found by PATH, by VIRTUAL_ENV or by its full path; its real interpreter lies elsewhere."""
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    policy = Policy(writable=(box.work,))  # nothing else of the test's folder is shown
    for argv, env in (
        ((str(venv / "bin/python"),), {}),
        (("/usr/bin/env", "python"), {"PATH": f"{venv}/bin:{os.environ['PATH']}"}),
        (("/bin/sh", "-c", '"$VIRTUAL_ENV/bin/python" "$@"', "sh"), {"VIRTUAL_ENV": str(venv)}),
    ):
        done = box.run(*argv, "-c", "import sys, json; print(sys.prefix)", env=env, policy=policy)
        assert done.stdout.strip() == str(venv), done.stderr


def test_the_rest_of_the_temporary_folder_isn_t_shown(bwrap) -> None:
    done = bwrap.shell(f"ls -a {bwrap.outside} /run", policy=Policy(writable=(bwrap.work,)))
    assert "canary" not in done.stdout


def test_a_workspace_behind_a_link(box, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(box.work)
    done = box.shell("echo x > made; pwd -P", cwd=link, policy=Policy(writable=(link,)))
    assert done.stdout.strip() == str(box.work)
    assert (box.work / "made").exists()


def test_a_workspace_inside_a_hidden_folder(box) -> None:
    """Copies lie among deskagent's data, which is hidden."""
    copy = box.home / ".ssh" / "copy"
    copy.mkdir()
    done = box.shell("echo x > made; ls; cat ../id_ed25519", cwd=copy, policy=Policy(writable=(copy,)))
    assert done.stdout.strip() == "made"
    assert (copy / "made").exists()


def test_mounts_show_a_copy_at_the_project_s_path(bwrap) -> None:
    project = bwrap.home / "project"
    project.mkdir()
    (project / "module.py").write_text("value = 'project'")
    (bwrap.work / "module.py").write_text("value = 'copy'")
    policy = Policy(mounts={bwrap.work: project})
    code = "import module; print(module.__file__, module.value)"
    done = bwrap.run(sys.executable, "-c", code, cwd=project, policy=policy)
    assert done.stdout.split() == [f"{project}/module.py", "copy"]
    assert (bwrap.work / "__pycache__").exists() or os.environ.get("PYTHONDONTWRITEBYTECODE")
    assert not (project / "__pycache__").exists()


def _on_terminal(box, line: str, typed: bytes, until: bytes, interactive: str = "+m") -> bytes:
    wrapped = box.sandbox.wrap(
        ("/bin/bash", "--norc", interactive, "-c", line), box.work, {**box.env, "TERM": "dumb"}, box.policy
    )
    pid, terminal = pty.fork()
    if pid == 0:
        for fd in wrapped.fds:
            os.set_inheritable(fd, True)
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a suite in the background was started with it ignored
        os.chdir(wrapped.cwd)
        os.execve(wrapped.argv[0], wrapped.argv, dict(wrapped.env))
    for fd in wrapped.fds:
        os.close(fd)
    output, end, sent = b"", time.monotonic() + 30, False
    while until not in output and time.monotonic() < end:
        if not select.select([terminal], [], [], 0.1)[0]:
            continue
        try:
            output += os.read(terminal, 4096)
        except OSError:
            break
        if not sent and b"ready" in output:
            os.write(terminal, typed)
            sent = True
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(terminal)
    wrapped.cleanup()
    return output


def test_a_terminal_with_job_control(box) -> None:
    """An interactive shell moves jobs to the foreground, and Ctrl-C reaches what runs there and nothing else."""
    (box.work / "wait.py").write_text(
        "import time\ntry:\n    print('ready', flush=True)\n    time.sleep(60)\n"
        "except KeyboardInterrupt:\n    print('interrupted', flush=True)\n"
    )
    line = f"sleep 0.1 & fg %1 && echo moved; {sys.executable} -I wait.py; echo over"
    output = _on_terminal(box, line, b"\x03", b"over\r\n", interactive="-i")
    assert b"moved\r\n" in output and b"interrupted\r\n" in output and b"over\r\n" in output
    assert b"no job control" not in output


def test_terminals_of_a_command_s_own(box) -> None:
    """As pexpect and `script` open them; those of other programs stay closed."""
    code = """
    import pty
    read, write = pty.openpty()
    os.write(write, b"through"); print(os.read(read, 99).decode(), os.get_inheritable(write), flush=True)
    pid, terminal = pty.fork()
    if pid == 0:
        print(os.isatty(0), tried(lambda: os.open("/dev/tty", os.O_RDWR)), flush=True); os._exit(0)
    print(os.read(terminal, 99).decode().strip())
    import fcntl
    print(tried(lambda: fcntl.ioctl(0, 0x5441, 2)), tried(lambda: os.open(sys.argv[1], os.O_RDWR)))
    """
    outer, inner = pty.openpty()
    answers = box.python(code, os.ttyname(inner)).split()
    os.close(outer)
    os.close(inner)
    assert answers[:4] == ["through", "False", "True", "done"]
    assert answers[4] == "ENOTTY"
    assert answers[5] != "done" or box.sandbox.rung is Rung.BWRAP  # there the number is one of its own


def test_typing_into_the_terminal_is_refused(box) -> None:
    code = "import fcntl\ntry: fcntl.ioctl(0, 0x5412, b'x')\nexcept OSError as e: print('refused', e.errno)"
    output = _on_terminal(box, f'echo ready; {sys.executable} -c "{code}"; echo end', b"", b"end\r\n")
    assert b"refused 1" in output


def test_it_ends_with_its_parent(box) -> None:
    """kill -9 of the wrapper takes the command with it."""
    wrapped = box.sandbox.wrap(
        ("/bin/sh", "-c", "echo up; read x; sleep 1; echo late > late"), box.work, box.env, box.policy
    )
    process = subprocess.Popen(
        wrapped.argv,
        cwd=wrapped.cwd,
        env={},
        pass_fds=wrapped.fds,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    for fd in wrapped.fds:
        os.close(fd)
    assert process.stdout is not None and process.stdin is not None
    assert process.stdout.readline() == b"up\n"
    process.kill()
    process.wait()
    assert process.stdout.read() == b""  # the last holder of the pipe is gone
    process.stdin.close()
    process.stdout.close()
    wrapped.cleanup()
    assert not (box.work / "late").exists()


def test_many_watched_calls_from_many_threads(landlock) -> None:
    code = """
    import threading
    def work(name):
        open(name, "w").close()
        for mode in [0o600, 0o640] * 50:
            os.chmod(name, mode)
            assert os.stat(name).st_mode & 0o777 == mode
    threads = [threading.Thread(target=work, args=(f"f{i}",)) for i in range(8)]
    for t in threads: t.start()
    for t in threads: t.join()
    if os.fork() == 0:
        os.execv(sys.executable, [sys.executable, "-I", "-c", "import os; os.chmod('f0', 0o604)"])
    os.wait()
    print(oct(os.stat("f0").st_mode))
    """
    assert landlock.python(code) == "0o100604"


def test_without_a_sandbox_nothing_changes(tmp_path: Path) -> None:
    wrapped = Unconfined().wrap(("true",), tmp_path, {"A": "1"}, Policy())
    assert (wrapped.argv, wrapped.cwd, dict(wrapped.env), wrapped.fds) == (
        ("true",),
        tmp_path,
        {"A": "1"},
        (),
    )
