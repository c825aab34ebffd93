"""Starts a command below the supervisor: its own session and terminal, its limits, and the shim above it.

Part of the supervisor's process, so as sparing with imports as that.
"""

from __future__ import annotations

import _signal as signal  # pyright: ignore[reportMissingImports] - the public module imports enum: 5 ms
import os
import sys

from deskagent.terminal.tree import descendants, read_file

LINUX = sys.platform == "linux"
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
_PROCESSES_AT_LEAST = 16_384  # RLIMIT_NPROC counts all of a user's threads, so as a brake alone


def prctl(option: int, value: int) -> None:
    """prctl(2) with one argument; nothing where there is none."""
    if not LINUX:
        return
    try:
        # ctypes without its Python half, which takes 5 ms to import.
        import _ctypes

        function = _ctypes.dlsym(_ctypes.dlopen(None, 0), "prctl")  # pyright: ignore
        _ctypes.call_function(function, (option, value, 0, 0, 0))
    except ImportError:
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def kill(pid: int, number: int) -> None:
    """Sends a signal to a process, or a group if negative, that may be gone or another user's (sudo)."""
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass  # the count of survivors tells


def _search(program: str, path: str) -> list[str]:
    if "/" in program:
        return [program]
    return [f"{folder or '.'}/{program}" for folder in path.split(":")]


def _exec(job: dict) -> None:
    """Becomes the command. Returns only by an OSError."""
    argv, env = job["argv"], job["env"]
    denied: OSError | None = None
    for candidate in _search(argv[0], env.get("PATH", "/usr/bin:/bin")):
        try:
            os.execve(candidate, argv, env)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except PermissionError as error:
            denied = error
        except OSError as error:
            # ENOEXEC is a script without its #! line, which a shell would run, or another machine's program.
            if error.errno != 8 or b"\0" in (read_file(candidate) or b"\0")[:64]:
                raise
            os.execve("/bin/sh", ["sh", candidate, *argv[1:]], env)
    raise denied or FileNotFoundError(2, "no such program")


def _limit(job: dict) -> None:
    import resource

    def lower(which: int, value: int | None) -> None:
        soft, hard = resource.getrlimit(which)
        if value is not None and (soft == resource.RLIM_INFINITY or soft > value):
            resource.setrlimit(which, (value, value if hard == resource.RLIM_INFINITY else min(value, hard)))

    lower(resource.RLIMIT_CORE, 0)
    lower(resource.RLIMIT_FSIZE, job["file_size"])
    if job["processes"]:
        lower(resource.RLIMIT_NPROC, max(_PROCESSES_AT_LEAST, 8 * job["processes"]))
    # No limit on address space or data: node, the JVM and sanitizers reserve terabytes that they never touch.
    if LINUX:
        try:
            fd = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
            os.write(fd, b"500")  # short of memory, the kernel takes this one first, not deskagent
            os.close(fd)
        except OSError:
            pass  # no /proc: only that order is lost


def _become_command(job: dict, report: int) -> None:
    where = "start"
    try:
        os.setsid()
        if job["pty"]:
            import fcntl
            import termios

            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        for number in range(1, signal.NSIG):
            try:
                signal.signal(number, signal.SIG_DFL)
            except (OSError, ValueError):
                continue  # KILL, STOP and those that libc keeps for itself
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        _limit(job)
        where = "cwd"
        os.chdir(job["cwd"])
        where = "exec"
        _exec(job)
    except OSError as error:
        os.write(report, b"e%d %s\n" % (error.errno or 0, where.encode()))
    finally:
        os._exit(127)


def _become_shim(job: dict, report: int, control: int) -> None:
    supervisor = os.getppid()
    try:
        signal.set_wakeup_fd(-1)
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        os.close(control)
        command = os.fork()
        if command == 0:
            _become_command(job, report)
        os.write(report, b"p%d\n" % command)
        os.close(report)
        _let_go(job["fds"])

        def terminated(*_: object) -> None:
            if os.getppid() != supervisor:  # the supervisor was killed: do what is left to do
                for process in descendants(os.getpid()):
                    kill(process.pid, signal.SIGKILL)
            os._exit(1)

        signal.signal(signal.SIGTERM, terminated)
        os.waitid(os.P_PID, command, os.WEXITED | os.WNOWAIT)  # not reaped: its status is the supervisor's
    except OSError as error:
        os.write(report, b"e%d start\n" % (error.errno or 0))
    finally:
        os._exit(0)


def _let_go(fds: tuple[int, ...]) -> None:
    """Closes what belongs to the command alone, so that its pipes end with it."""
    for fd in fds:
        os.close(fd)
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    if null > 2:
        os.close(null)


def launch(job: dict, control: int) -> tuple[int, int, bytes]:
    """Starts the command: (its pid, the shim's pid, what went wrong as b"errno where")."""
    listen, report = os.pipe()
    shim = os.fork()
    if shim == 0:
        os.close(listen)
        if LINUX:
            _become_shim(job, report, control)
        _become_command(job, report)
    os.close(report)
    said = b""
    while chunk := os.read(listen, 4096):
        said += chunk
    os.close(listen)
    _let_go(job["fds"])
    command, problem = shim, b""
    for line in said.splitlines():
        if line.startswith(b"p"):
            command = int(line[1:])
        else:
            problem = line[1:]
    return command, shim, problem
