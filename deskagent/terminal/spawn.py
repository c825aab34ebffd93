"""The one way to start a process: `run` waits for it, `start` keeps it and talks to it.

Every process lives below a supervisor (see there), so that none outlives its run. `pty.PtySession` is the third
way in, for a person or a program that types.
"""

from __future__ import annotations

import contextlib
import os
import select
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from deskagent.terminal import pipes
from deskagent.terminal.child import Child, Ending, failed_start
from deskagent.terminal.lookup import StartError
from deskagent.terminal.output import Output
from deskagent.terminal.sandbox import Sandbox, SandboxError
from deskagent.terminal.types import Command, End, Limits, Policy, Result, Rung
from deskagent.terminal.waiting import Waiting, Watcher

_TICK = 0.1  # seconds between looks at `cancel` and at a terminal
_LINGER = 0.2  # seconds to wait for output that somebody outside the tree still holds open

OnWaiting = Callable[[Waiting], bytes | None]


def result_of(ending: Ending, output: Output, rung: Rung) -> Result:
    """The result of a process that ended as told and printed `output`."""
    end, code, detail = ending.end, ending.code, ending.detail
    if rung is Rung.BWRAP and end is End.EXITED and code == 1 and output.head.startswith(b"bwrap: "):
        # bwrap's own words for a set-up that failed. A command that prints the same fails as well.
        end, detail = End.SANDBOX, last_words(output)
    return Result(
        end=end,
        code=code,
        seconds=ending.seconds,
        head=output.head,
        tail=output.tail,
        total=output.total,
        output_path=output.path,
        detail="; ".join(filter(None, (detail, output.problem))),
        rung=rung,
    )


def last_words(output: Output) -> str:
    """The last line printed, for a message."""
    return output.last(400).decode("utf-8", "replace").strip().rsplit("\n", 1)[-1]


def run(
    command: Command,
    *,
    sandbox: Sandbox,
    policy: Policy,
    limits: Limits = Limits(),  # noqa: B008 - frozen
    stdin: bytes | None = None,
    output_path: Path | None = None,
    on_output: Callable[[bytes], None] | None = None,
    cancel: threading.Event | None = None,
    on_waiting: OnWaiting | None = None,
) -> Result:
    """Runs `command` to its end and clears away all that it started.

    `stdin`: bytes to feed (typed, in a PTY); None is /dev/null, or a terminal at which nobody sits.
    `on_output` gets every piece as it comes, on this thread. `cancel` ends the run within a second of being set.
    `on_waiting` (PTY alone) is asked when the command waits for input: it returns what to type, or None to end the
    run, which is also what happens without it (End.WAITING).

    What can't start is a Result too: NOT_FOUND (code 127, or 126 where it exists but can't be executed) or
    SANDBOX. Raises TransientError where the system has no process or descriptor left, OSError for an
    `output_path` that can't be opened, and whatever a callback raises.
    """
    output = Output(output_path, limits.output)
    try:
        with contextlib.closing(_Run(command, sandbox, policy, limits, output, stdin)) as work:
            ending = work.follow(on_output, cancel, on_waiting)
    except (StartError, SandboxError) as error:
        ending = failed_start(error)
    finally:
        output.close()
    return result_of(ending, output, sandbox.rung)


class _Run:
    """One `run`: the child and our ends of its descriptors."""

    def __init__(
        self,
        command: Command,
        sandbox: Sandbox,
        policy: Policy,
        limits: Limits,
        output: Output,
        stdin: bytes | None,
    ) -> None:
        self._output = output
        self._pending = memoryview(stdin or b"")
        self._watcher: Watcher | None = None
        self._input = -1
        with contextlib.ExitStack() as theirs:

            def their(fd: int) -> int:
                theirs.callback(os.close, fd)
                return fd

            with contextlib.ExitStack() as ours:
                if command.pty:
                    self._source, out = pipes.terminal(command.size)
                    ours.callback(os.close, self._source)
                    source = their(out)
                    self._input = os.dup(self._source)
                    ours.callback(os.close, self._input)
                else:
                    self._source, out = pipes.pipe()
                    ours.callback(os.close, self._source)
                    their(out)
                    if stdin is None:
                        source = their(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
                    else:
                        source, self._input = pipes.pipe()
                        their(source)
                        ours.callback(os.close, self._input)
                self._child = Child(
                    command, sandbox=sandbox, policy=policy, limits=limits, stdin=source, stdout=out, stderr=out
                )
                ours.pop_all()
            if command.pty:
                self._watcher = Watcher(self._source, out, self._child.supervisor_pid)
        if self._input >= 0:
            os.set_blocking(self._input, False)

    def follow(
        self,
        on_output: Callable[[bytes], None] | None,
        cancel: threading.Event | None,
        on_waiting: OnWaiting | None,
    ) -> Ending:
        """Moves bytes until the child has ended and all it printed is read."""
        poller = select.poll()
        poller.register(self._source, select.POLLIN)
        poller.register(self._child, select.POLLIN)
        if self._pending:
            poller.register(self._input, select.POLLOUT)
        elif self._watcher is None:
            self._close_input()
        buffer = memoryview(bytearray(pipes.CHUNK))
        ending: Ending | None = None
        waiting: Waiting | None = None
        reading = True
        tick = _TICK if cancel or self._watcher else 1.0
        while ending is None or reading:
            events = dict(poller.poll((tick if ending is None else _LINGER) * 1000))
            if self._source in events and reading:
                count = pipes.read(self._source, buffer)
                if count:
                    self._output.add(buffer[:count])
                    if self._watcher:
                        self._watcher.saw(buffer[:count])
                    if on_output:
                        on_output(bytes(buffer[:count]))
                else:
                    poller.unregister(self._source)
                    reading = False
            elif ending is not None:
                break  # somebody outside the tree holds the other end: its words aren't waited for
            if self._input in events:
                self._feed(poller)
            if ending is None:
                # Also without an event: a supervisor that stopped answering is noticed by the clock.
                ending = self._child.ending()
                if ending is not None:
                    poller.unregister(self._child)
                elif cancel is not None and cancel.is_set():
                    self._child.stop("cancelled")
                    cancel = None
                elif self._watcher and waiting is None and self._source not in events:
                    waiting = self._answer(on_waiting, poller)
        if waiting is not None and ending.end is End.CANCELLED:
            return replace(ending, end=End.WAITING, detail=str(waiting))
        return ending

    def _feed(self, poller: select.poll) -> None:
        written = pipes.write(self._input, self._pending[: 1 << 16])
        self._pending = self._pending[len(self._pending) if written is None else written :]
        if not self._pending:
            poller.unregister(self._input)
            if self._watcher is None:
                self._close_input()

    def _answer(self, on_waiting: OnWaiting | None, poller: select.poll) -> Waiting | None:
        """Has a waiting child answered, or stopped: then says what it waited for."""
        watcher = self._watcher
        waiting = watcher.look() if watcher and not self._pending else None
        if watcher is None or waiting is None:
            return None
        answer = on_waiting(waiting) if on_waiting else None
        if answer is None:
            self._child.stop(str(waiting))
            return waiting
        watcher.typed()
        self._pending = memoryview(answer)
        if answer:
            poller.register(self._input, select.POLLOUT)
        return None

    def _close_input(self) -> None:
        if self._input >= 0:
            os.close(self._input)
            self._input = -1

    def close(self) -> None:
        """Ends the child, if it still runs, and closes our descriptors."""
        self._child.close()
        self._close_input()
        os.close(self._source)


def start(
    command: Command,
    *,
    sandbox: Sandbox,
    policy: Policy,
    limits: Limits = Limits(seconds=None),  # noqa: B008 - frozen
    stderr_path: Path | None = None,
) -> Process:
    """Starts a process to talk to over binary pipes: a test worker, a language or tool server.

    Its stderr is read all the time: the ends kept in memory, the whole (up to `limits.output`) in `stderr_path`.
    Raises StartError, SandboxError and TransientError; a PTY needs `pty.PtySession` instead.
    """
    if command.pty:
        raise ValueError("start() gives pipes; use PtySession for a terminal")
    return Process(command, sandbox, policy, limits, stderr_path)


class Process:
    """A running process with pipes. Close it, best by `with`: that ends it and all below it."""

    def __init__(
        self, command: Command, sandbox: Sandbox, policy: Policy, limits: Limits, stderr_path: Path | None
    ) -> None:
        self._rung = sandbox.rung
        self._result: Result | None = None
        self._done = threading.Event()
        self._sending = threading.Lock()
        self._errors = Output(stderr_path, limits.output)
        with contextlib.ExitStack() as ours, contextlib.ExitStack() as theirs:
            stdin, self._stdin = pipes.pipe()
            stdout_fd, stdout = pipes.pipe()
            self._stderr, stderr = pipes.pipe()
            for fd in (stdin, stdout, stderr):
                theirs.callback(os.close, fd)
            for fd in (self._stdin, stdout_fd, self._stderr):
                ours.callback(os.close, fd)
            ours.callback(self._errors.close)
            self._child = Child(
                command, sandbox=sandbox, policy=policy, limits=limits, stdin=stdin, stdout=stdout, stderr=stderr
            )
            ours.pop_all()
        os.set_blocking(self._stdin, False)
        self.pid = self._child.pid
        self._stdout_fd = stdout_fd
        self.stdout = pipes.Reader(stdout_fd)
        self._thread = threading.Thread(target=self._follow, name=f"stderr of {self.pid}", daemon=True)
        self._thread.start()

    def _follow(self) -> None:
        buffer = memoryview(bytearray(1 << 16))
        poller = select.poll()
        poller.register(self._stderr, select.POLLIN)
        poller.register(self._child, select.POLLIN)
        ending: Ending | None = None
        reading = True
        while ending is None or reading:
            events = dict(poller.poll((1.0 if ending is None else _LINGER) * 1000))
            if reading and self._stderr in events:
                count = pipes.read(self._stderr, buffer)
                if count:
                    self._errors.add(buffer[:count])
                else:
                    poller.unregister(self._stderr)
                    reading = False
            elif ending is not None:
                break
            if ending is None:
                ending = self._child.ending()
                if ending is not None:
                    poller.unregister(self._child)
        self._errors.close()
        self._result = result_of(ending, self._errors, self._rung)
        self._done.set()

    def send(self, data: bytes, timeout: float | None = None) -> None:
        """Writes all of `data` to its stdin. BrokenPipeError once it has ended or closed it; TimeoutError where it
        doesn't read for `timeout` seconds (a part may have been written then: the stream is of no more use)."""
        until = None if timeout is None else time.monotonic() + timeout
        with self._sending:
            left = memoryview(data)
            while left:
                if self._stdin < 0:
                    raise BrokenPipeError("its stdin is closed")
                if not pipes.ready(self._stdin, select.POLLOUT, None if until is None else until - time.monotonic()):
                    raise TimeoutError
                left = left[os.write(self._stdin, left[: select.PIPE_BUF]) :]

    def end_input(self) -> None:
        """Closes its stdin: the polite way to end a filter or a server."""
        with self._sending:
            if self._stdin >= 0:
                os.close(self._stdin)
                self._stdin = -1

    @property
    def stderr(self) -> bytes:
        """The last bytes it wrote to stderr."""
        return self._errors.last(pipes.CHUNK)

    def wait(self, timeout: float | None = None) -> Result | None:
        """Its result (`head` and `tail` are of stderr), None if it still runs after `timeout` seconds."""
        self._done.wait(timeout)
        return self._result

    def terminate(self, grace: float = 0.5) -> None:
        """Ends it and all below it: SIGTERM, and SIGKILL after `grace` seconds. Doesn't wait."""
        self._child.stop(grace=grace)

    def close(self) -> Result:
        """Ends it, if it still runs, and lets go of everything. May be called again."""
        self.end_input()
        self._child.stop(grace=0.0)
        self._thread.join()
        self._child.close()
        for fd in (self._stdout_fd, self._stderr):
            if fd >= 0:
                os.close(fd)
        self._stdout_fd = self._stderr = -1
        assert self._result is not None  # the thread has ended
        return self._result

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
