"""The one way to start a process: `run` waits for it, `start` keeps it and talks to it.

Every process lives below a supervisor (see there), so that none outlives its run. `pty.PtySession` is the
third way in, for a person or a program that types.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from deskagent.terminal import pipes
from deskagent.terminal.child import Child, Ending, failed_start
from deskagent.terminal.lookup import StartError
from deskagent.terminal.output import Output
from deskagent.terminal.process import Process
from deskagent.terminal.pump import Feeder, pump
from deskagent.terminal.result import result_of
from deskagent.terminal.sandbox import Sandbox, SandboxError
from deskagent.terminal.types import Command, End, Limits, Policy, Result
from deskagent.terminal.waiting import Waiting, Watcher

_TICK = 0.1  # seconds between looks at `cancel` and at a terminal

OnWaiting = Callable[[Waiting], bytes | None]


def run(
    command: Command,
    *,
    sandbox: Sandbox,
    policy: Policy,
    limits: Limits = Limits(),
    stdin: bytes | None = None,
    output_path: Path | None = None,
    on_output: Callable[[bytes], None] | None = None,
    cancel: threading.Event | None = None,
    on_waiting: OnWaiting | None = None,
) -> Result:
    """Runs `command` to its end and clears away all that it started.

    `stdin`: bytes to feed (typed, in a PTY); None is /dev/null, or a terminal at which nobody sits.
    `on_output` gets every piece as it comes, on this thread. `cancel` ends the run within a second of being
    set. `on_waiting` (PTY alone) is asked when the command waits for input: it returns what to type, or None
    to end the run, which is also what happens without it (End.WAITING).

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
        self._size = command.size
        self._watcher: Watcher | None = None
        self._feeder: Feeder | None = None
        self._waiting: Waiting | None = None
        with pipes.Ends() as ends:
            typed = -1
            if command.pty:
                self._source, out = ends.pair(pipes.terminal(command.size), ours=0)
                source, typed = out, ends.own(os.dup(self._source))
            else:
                self._source, out = ends.pair(pipes.pipe(), ours=0)
                if stdin is None:
                    source = ends.lend(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
                else:
                    source, typed = ends.pair(pipes.pipe(), ours=1)
            self._child = Child(
                command,
                sandbox=sandbox,
                policy=policy,
                limits=limits,
                stdin=source,
                stdout=out,
                stderr=out,
            )
            if command.pty:
                self._watcher = Watcher(self._source, out, self._child.supervisor_pid)
            ends.keep()
        if typed >= 0:
            os.set_blocking(typed, False)
            self._feeder = Feeder(typed, stdin or b"", last=not command.pty)

    def follow(
        self,
        on_output: Callable[[bytes], None] | None,
        cancel: threading.Event | None,
        on_waiting: OnWaiting | None,
    ) -> Ending:
        """Moves bytes until the child has ended and all it printed is read."""
        stopped = False

        def take(data: memoryview) -> None:
            self._output.add(data)
            if self._watcher:
                self._watcher.saw(data)
            if on_output:
                on_output(bytes(data))

        def attend(printed: bool) -> None:
            nonlocal stopped
            if stopped:
                return
            if cancel is not None and cancel.is_set():
                stopped = True
                self._child.stop("cancelled")
            elif self._watcher and not printed:
                stopped = self._answer(on_waiting)

        tick = _TICK if cancel or self._watcher else 1.0
        ending = pump(self._child, self._source, take, feeder=self._feeder, attend=attend, tick=tick)
        if self._waiting is not None and ending.end is End.CANCELLED:
            return replace(ending, end=End.WAITING, detail=str(self._waiting))
        return ending

    def _answer(self, on_waiting: OnWaiting | None) -> bool:
        """Has a waiting child answered, or else stops it: then True."""
        if self._watcher is None or self._feeder is None or self._feeder.pending:
            return False
        waiting = self._watcher.look()
        if waiting is None:
            return False
        if waiting.full_screen:
            waiting = replace(waiting, printed=self._shown())
        answer = on_waiting(waiting) if on_waiting else None
        if answer is None:
            self._waiting = waiting
            self._child.stop(str(waiting))
            return True
        self._watcher.typed()
        self._feeder.add(answer)
        return False

    def _shown(self) -> str:
        """The last line with text on the screen."""
        from deskagent.terminal.screen import BACKLOG, Screen

        screen = Screen(*self._size)
        screen.feed(self._output.last(BACKLOG))
        return screen.snapshot().text.rsplit("\n", 1)[-1].strip()

    def close(self) -> None:
        """Ends the child, if it still runs, and closes our descriptors."""
        self._child.close()
        if self._feeder:
            self._feeder.close()
        os.close(self._source)


def start(
    command: Command,
    *,
    sandbox: Sandbox,
    policy: Policy,
    limits: Limits = Limits(seconds=None),
    stderr_path: Path | None = None,
) -> Process:
    """Starts a process to talk to over binary pipes: a test worker, a language or tool server.

    Its stderr is read all the time: the ends kept in memory, the whole (up to `limits.output`) in
    `stderr_path`. Raises StartError, SandboxError and TransientError; a PTY needs `pty.PtySession` instead.
    """
    if command.pty:
        raise ValueError("start() gives pipes; use PtySession for a terminal")
    return Process(command, sandbox, policy, limits, stderr_path)
