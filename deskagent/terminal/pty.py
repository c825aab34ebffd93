"""A process at a terminal of its own, for a person's pane or a program that types and waits for answers."""

from __future__ import annotations

import contextlib
import logging
import os
import select
import signal
import termios
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deskagent.terminal import pipes, tree
from deskagent.terminal.child import Child
from deskagent.terminal.output import Output
from deskagent.terminal.pump import pump
from deskagent.terminal.result import result_of
from deskagent.terminal.sandbox import Sandbox
from deskagent.terminal.screen import Painter, Snapshot
from deskagent.terminal.types import Command, Limits, Policy, Result
from deskagent.terminal.waiting import Waiting, Watcher

if TYPE_CHECKING:
    from deskagent.terminal.expecting import Expecter

UNREAD = 1 << 20
"""Bytes kept for `read` when nobody reads; older ones are dropped from it (not from the output file)."""


class PtySession:
    """A running process in a PTY of `command.size`. Close it, best by `with`: that ends it and all below it.

    A thread reads the terminal always. `on_output` gets the bytes on that thread, who `watch`es learns of changes on
    the painter's. Raises StartError, SandboxError and TransientError.
    """

    def __init__(
        self,
        command: Command,
        *,
        sandbox: Sandbox,
        policy: Policy,
        limits: Limits = Limits(seconds=None),
        output_path: Path | None = None,
        on_output: Callable[[bytes], None] | None = None,
    ) -> None:
        self.size = command.size
        """Rows and columns."""
        self._watching: tuple[Callable[[], None], ...] = ()
        self._rung = sandbox.rung
        self._on_output = on_output
        self._result: Result | None = None
        self._done = threading.Event()
        self._unread = bytearray()
        self._news = threading.Condition()
        self._writing = threading.Lock()
        self._expecter: Expecter | None = None
        self._output = Output(output_path, limits.output)
        with pipes.Ends() as ends:
            ends.undo(self._output.close)
            self._ours, theirs = ends.pair(pipes.terminal(command.size), ours=0)
            self._child = Child(
                command,
                sandbox=sandbox,
                policy=policy,
                limits=limits,
                stdin=theirs,
                stdout=theirs,
                stderr=theirs,
            )
            self._watcher = Watcher(self._ours, theirs, self._child.supervisor_pid)
            ends.keep()
        os.set_blocking(self._ours, False)
        self.pid = self._child.pid
        self._painter = Painter(command.size, self._reply, lambda _: self._tell())
        self._thread = threading.Thread(target=self._follow, name=f"terminal of {self.pid}", daemon=True)
        self._thread.start()

    def _follow(self) -> None:
        try:
            ending = pump(self._child, self._ours, self._take)
            self._output.close()
            self._result = result_of(ending, self._output, self._rung)
        finally:
            with self._news:
                self._done.set()
                self._news.notify_all()
            self._tell()

    def _take(self, view: memoryview) -> None:
        data = bytes(view)
        with self._news:
            self._output.add(data)
            self._watcher.saw(data)
            self._unread += data
            if len(self._unread) > UNREAD:
                del self._unread[: len(self._unread) - UNREAD // 2]
            self._news.notify_all()
        self._painter.offer(data)
        if self._on_output:
            try:
                self._on_output(data)
            except Exception:
                # A listener's fault must not leave the terminal unread and the program stuck.
                logging.getLogger(__name__).exception("a listener for terminal output failed")

    def watch(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Has `changed` called after each change of the screen, and when it ends, on threads of its own; it must not
        block. Gives what ends that."""
        with self._news:
            self._watching = (*self._watching, changed)

        def stop() -> None:
            with self._news:
                self._watching = tuple(each for each in self._watching if each is not changed)

        return stop

    def _tell(self) -> None:
        for changed in self._watching:
            try:
                changed()
            except Exception:
                logging.getLogger(__name__).exception("a listener for a terminal's changes failed")

    def _reply(self, data: bytes) -> None:
        with contextlib.suppress(OSError):  # nobody asks any more
            self._type(data, 0.0)

    def read(self, timeout: float | None = None) -> bytes:
        """What it printed since the last read, waiting for something; b"" once it has ended. TimeoutError."""
        with self._news:
            if not self._news.wait_for(lambda: self._unread or self._done.is_set(), timeout):
                raise TimeoutError
            data = bytes(self._unread)
            self._unread.clear()
            return data

    def write(self, data: bytes, timeout: float = 5.0) -> None:
        """Types `data` (Enter is b"\\r"). TimeoutError where it doesn't read, BrokenPipeError once ended."""
        self._watcher.typed()
        self._type(data, timeout)

    def _type(self, data: bytes, timeout: float) -> None:
        until = time.monotonic() + timeout
        with self._writing:
            left = memoryview(data)
            while left:
                if self._done.is_set():
                    raise BrokenPipeError("it has ended")
                if pipes.ready(self._ours, select.POLLOUT, until - time.monotonic()):
                    written = pipes.write(self._ours, left[:1024])
                    if written is None:
                        raise BrokenPipeError("it has ended")
                    left = left[written:]
                elif time.monotonic() >= until:
                    raise TimeoutError("it does not read what is typed")

    def expect(self, patterns: Any, timeout: float = 30.0) -> int:
        """Reads on (with `read`) until one of `patterns`, as pexpect takes them, appears; says which one.

        What stood before it and the match are in `expected`. Raises pexpect.TIMEOUT and pexpect.EOF.
        """
        return self.expected.expect(patterns, timeout=timeout)

    @property
    def expected(self) -> Expecter:
        """The pexpect object behind `expect`: before, match, after."""
        if self._expecter is None:
            from deskagent.terminal.expecting import Expecter

            self._expecter = Expecter(self.read)
        return self._expecter

    def resize(self, rows: int, columns: int) -> None:
        """Changes the terminal's size; the program gets SIGWINCH."""
        termios.tcsetwinsize(self._ours, (rows, columns))
        self.size = (rows, columns)
        self._painter.resize(rows, columns)
        # The kernel tells the terminal's own session; who sits in another (bwrap --new-session), we.
        for process in tree.descendants(self._child.supervisor_pid):
            if process.state != "Z" and tree.terminal_of(process.pid) == 0:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(process.pid, signal.SIGWINCH)

    def screen(self, settle: float = 0.0) -> Snapshot:
        """What it shows; with `settle`, waits so many seconds for all that was printed to be on it."""
        return self._painter.settle(settle) if settle else self._painter.snapshot

    def waiting(self) -> Waiting | None:
        """Whether it waits for input now, after some quiet (see `waiting.Watcher`)."""
        return None if self._done.is_set() else self._watcher.look()

    def wait(self, timeout: float | None = None) -> Result | None:
        """Its result, None if it still runs after `timeout` seconds."""
        self._done.wait(timeout)
        return self._result

    def terminate(self, grace: float = 0.5) -> None:
        """Ends it and all below it: SIGTERM, and SIGKILL after `grace` seconds. Doesn't wait."""
        self._child.stop(grace=grace)

    def close(self) -> Result:
        """Ends it, if it still runs, and lets go of everything. May be called again."""
        self._child.stop("closed", grace=0.0)
        self._thread.join()
        self._child.close()
        self._painter.close()
        with self._writing:
            if self._ours >= 0:
                os.close(self._ours)
                self._ours = -1
        assert self._result is not None  # the thread has ended
        return self._result

    def __enter__(self) -> PtySession:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
