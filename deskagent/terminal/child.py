"""Our side of a supervised process: starts the supervisor, tells it to stop, learns how the command ended."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import deskagent
from deskagent.errors import DeskagentError, TransientError
from deskagent.terminal import lookup, supervisor, tree
from deskagent.terminal.lookup import StartError
from deskagent.terminal.sandbox import Sandbox, SandboxError
from deskagent.terminal.types import Command, End, Limits, Policy, Rung

GRACE = 1.0
"""Seconds between SIGTERM and SIGKILL after a time-out."""

_START_SECONDS = 30.0
_OVERRUN_SECONDS = 3.0

_BOOT = (
    "import sys; sys.path.append(sys.argv[1]); "
    "from deskagent.terminal.supervisor import main; main(int(sys.argv[2]))"
)
_SUPERVISOR_ENV = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONHOME")  # what some Pythons need to start

_REASONS = {
    "timeout": End.TIMEOUT,
    "memory": End.MEMORY,
    "processes": End.PROCESSES,
    "stopped": End.CANCELLED,
}


@dataclass(frozen=True)
class Ending:
    """How a command ended, as its supervisor tells."""

    end: End
    code: int
    seconds: float
    detail: str = ""


def failed_start(error: DeskagentError) -> Ending:
    """The ending of a command that never ran."""
    if isinstance(error, StartError):
        return Ending(error.end, error.code, 0.0, str(error))
    return Ending(End.SANDBOX, 126, 0.0, str(error))


class Child:
    """A running command below its supervisor.

    The start raises StartError (no such command, not executable, …), SandboxError (can't be confined) or
    TransientError (the system has no process left). `stdin`, `stdout` and `stderr` are descriptors that the
    command gets; they stay open here and are the caller's to close.
    """

    def __init__(
        self,
        command: Command,
        *,
        sandbox: Sandbox,
        policy: Policy,
        limits: Limits,
        stdin: int,
        stdout: int,
        stderr: int,
    ) -> None:
        self._limits = limits
        self._mark = os.urandom(16).hex()
        self._asked = ""
        self._survivors = 0
        self._ending: Ending | None = None
        self._lock = threading.Lock()
        self.rung = sandbox.rung
        lookup.check(command, policy.mounts)
        env = {**command.env, tree.MARK: self._mark}
        wrapped = sandbox.wrap(command.argv, command.cwd, env, policy)
        try:
            job = {
                "argv": list(wrapped.argv),
                "env": dict(wrapped.env),
                "cwd": str(wrapped.cwd),
                "fds": tuple(wrapped.fds),
                "pty": command.pty,
                "wrapped": sandbox.rung is not Rung.NONE,
                "seconds": limits.seconds,
                "memory": limits.memory,
                "processes": limits.processes,
                "file_size": limits.file_size,
                "grace": GRACE,
            }
            self._control, theirs = socket.socketpair()
            with theirs:
                self._supervisor = _start_supervisor(
                    theirs, (stdin, stdout, stderr), wrapped.fds, self._control
                )
        except BaseException:
            wrapped.cleanup()
            raise
        finally:
            for fd in wrapped.fds:
                with contextlib.suppress(OSError):
                    os.close(fd)
        self._cleanup = wrapped.cleanup
        self.started = time.monotonic()
        try:
            self.pid = self._handshake(command, job)
        except BaseException:
            self.close()
            raise

    def _handshake(self, command: Command, job: dict[str, object]) -> int:
        try:
            supervisor.send(self._control.fileno(), job)
            answer = self._receive(_START_SECONDS)
        except OSError:
            answer = None
        if answer is None:
            raise TransientError(
                "The process that watches over commands did not start.",
                hint=f"Does {_python()} -I -S -E -c pass work, and is there memory left?",
            )
        if "errno" in answer:
            number, where = int(answer["errno"]), str(answer["where"])  # type: ignore[call-overload]
            if where == "start":
                raise _no_process(number)
            raise lookup.explain(command, number, where)
        return int(answer["pid"])  # type: ignore[call-overload]

    def _receive(self, seconds: float) -> dict[str, object] | None:
        """The supervisor's next message, None if it has died. TimeoutError after `seconds`."""
        poller = select.poll()
        poller.register(self._control, select.POLLIN)
        if not poller.poll(seconds * 1000):
            raise TimeoutError
        return supervisor.receive(self._control.fileno())

    def fileno(self) -> int:
        """Readable as soon as `ending` has something to tell."""
        return self._control.fileno()

    @property
    def supervisor_pid(self) -> int:
        return self._supervisor.pid

    def stop(self, why: str = "", *, grace: float = 0.5) -> None:
        """Ends the command and all below it: SIGTERM now, SIGKILL after `grace` seconds (0: at once)."""
        self._asked = self._asked or why
        with contextlib.suppress(OSError):  # it has ended already
            supervisor.send(self._control.fileno(), {"stop": grace})

    def ending(self, timeout: float | None = 0.0) -> Ending | None:
        """How it ended, waiting up to `timeout` seconds (None: for ever), None while it runs."""
        with self._lock:
            if self._ending is None:
                self._ending = self._await_ending(timeout)
                if self._ending is not None:
                    self._cleanup()
            return self._ending

    def _await_ending(self, timeout: float | None) -> Ending | None:
        limit = (
            None if self._limits.seconds is None else self.started + self._limits.seconds + _OVERRUN_SECONDS
        )
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            times = [t for t in (until, limit) if t is not None]
            left = max(0.0, min(times) - time.monotonic()) if times else 3600.0
            try:
                message = self._receive(left)
            except TimeoutError:
                now = time.monotonic()
                if limit is not None and now >= limit:  # a supervisor that is stopped or starved
                    return self._abandon(End.TIMEOUT, "its supervisor did not answer")
                if until is not None and now >= until:
                    return None
                continue
            if message is None:
                return self._abandon(End.SIGNALED, "its supervisor was killed")
            self._survivors = int(message["survivors"])  # type: ignore[call-overload]
            self._reap()
            return self._read_ending(message)

    def _read_ending(self, message: dict) -> Ending:
        status = message["status"]
        code = 137 if status is None else os.waitstatus_to_exitcode(status)
        end = _REASONS.get(message["end"]) or (End.SIGNALED if code < 0 else End.EXITED)
        number = -code if code < 0 else code - 128
        code = 128 - code if code < 0 else code
        limits, used = self._limits, message["used"]
        mebibytes = (limits.memory or 0) >> 20
        detail = {
            End.TIMEOUT: f"ended after {limits.seconds:g} s" if limits.seconds is not None else "",
            End.MEMORY: f"ended for using {used >> 20} MiB of memory, {mebibytes} MiB are allowed",
            End.PROCESSES: f"ended for running {used} processes at once, {limits.processes} are allowed",
            End.SIGNALED: f"died of {_signal_name(number)}",
            End.CANCELLED: self._asked or "cancelled",
        }.get(end, "")
        if end in (End.EXITED, End.SIGNALED) and number == signal.SIGXFSZ:
            end, detail = End.FILE_SIZE, f"wrote a file of more than {(limits.file_size or 0) >> 20} MiB"
        notes = [detail] if detail else []
        if end is End.EXITED and message["found"]:
            notes.append(f"{message['found']} processes that it left running were ended")
        if message["survivors"]:
            notes.append(f"{message['survivors']} processes could not be ended: another user's, or stuck")
        return Ending(end, code, message["seconds"], "; ".join(notes))

    def _abandon(self, end: End, detail: str) -> Ending:
        """For a supervisor that no longer does its work: kills it and, by their mark, all that it started."""
        self._supervisor.kill()
        self._reap()
        self._sweep()
        return Ending(end, 128 + signal.SIGKILL, time.monotonic() - self.started, detail)

    def _sweep(self) -> None:
        deadline = time.monotonic() + 2.0
        while (left := tree.marked(self._mark)) and time.monotonic() < deadline:
            for pid in left:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)

    def _reap(self) -> None:
        if self._survivors:
            return  # it goes on trying; its own end is noticed at the next start of anything
        try:
            self._supervisor.wait(_OVERRUN_SECONDS)
        except subprocess.TimeoutExpired:
            self._supervisor.kill()
            self._supervisor.wait()

    def close(self) -> None:
        """Ends whatever still runs, waits for that, and lets go of the supervisor."""
        if self._control.fileno() < 0:
            return
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)
        self._reap()
        with self._lock:
            if self._supervisor.returncode:
                self._sweep()
            if self._ending is None:
                self._cleanup()
                seconds = time.monotonic() - self.started
                self._ending = Ending(End.CANCELLED, 128 + signal.SIGKILL, seconds, self._asked or "closed")
            self._control.close()


def _python() -> str:
    # Not the virtual environment's link to it: one file less to look up, and none that a project could own.
    return getattr(sys, "_base_executable", None) or sys.executable


def _start_supervisor(
    theirs: socket.socket, stdio: tuple[int, int, int], fds: tuple[int, ...], ours: socket.socket
) -> subprocess.Popen[bytes]:
    root = Path(deskagent.__file__).parents[1]
    try:
        return subprocess.Popen(
            [_python(), "-I", "-S", "-E", "-c", _BOOT, str(root), str(theirs.fileno())],
            stdin=stdio[0],
            stdout=stdio[1],
            stderr=stdio[2],
            env={name: os.environ[name] for name in _SUPERVISOR_ENV if name in os.environ},
            cwd="/",
            start_new_session=True,
            pass_fds=(theirs.fileno(), *fds),
        )
    except OSError as error:
        ours.close()
        raise _no_process(error.errno or 0) from error


def _no_process(number: int) -> TransientError:
    return TransientError(
        f"No process can be started: {os.strerror(number)}.",
        hint="Close other programs, or raise the limits that ulimit -u and -n show.",
    )


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


__all__ = ["GRACE", "Child", "Ending", "SandboxError", "StartError", "failed_start"]
