"""A process to talk to over pipes: a test worker, a language or tool server."""

from __future__ import annotations

import os
import select
import threading
import time
from pathlib import Path

from deskagent.terminal import pipes
from deskagent.terminal.child import Child
from deskagent.terminal.output import Output
from deskagent.terminal.pump import pump
from deskagent.terminal.result import result_of
from deskagent.terminal.sandbox import Sandbox
from deskagent.terminal.types import Command, Limits, Policy, Result


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
        with pipes.Ends() as ends:
            ends.undo(self._errors.close)
            stdin, self._stdin = ends.pair(pipes.pipe(), ours=1)
            self._stdout, stdout = ends.pair(pipes.pipe(), ours=0)
            self._stderr, stderr = ends.pair(pipes.pipe(), ours=0)
            self._child = Child(
                command,
                sandbox=sandbox,
                policy=policy,
                limits=limits,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
            )
            ends.keep()
        os.set_blocking(self._stdin, False)
        self.pid = self._child.pid
        self.stdout = pipes.Reader(self._stdout)
        self._thread = threading.Thread(target=self._follow, name=f"stderr of {self.pid}", daemon=True)
        self._thread.start()

    def _follow(self) -> None:
        try:
            ending = pump(self._child, self._stderr, self._errors.add)
            self._errors.close()
            self._result = result_of(ending, self._errors, self._rung)
        finally:
            self._done.set()

    def send(self, data: bytes, timeout: float | None = None) -> None:
        """Writes all of `data` to its stdin.

        BrokenPipeError once it has ended or closed it; TimeoutError where it doesn't read for `timeout`
        seconds (a part may have been written then: the stream is of no more use).
        """
        until = None if timeout is None else time.monotonic() + timeout
        with self._sending:
            left = memoryview(data)
            while left:
                if self._stdin < 0:
                    raise BrokenPipeError("its stdin is closed")
                if not pipes.ready(
                    self._stdin, select.POLLOUT, None if until is None else until - time.monotonic()
                ):
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
        for fd in (self._stdout, self._stderr):
            if fd >= 0:
                os.close(fd)
        self._stdout = self._stderr = -1
        assert self._result is not None  # the thread has ended
        return self._result

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
