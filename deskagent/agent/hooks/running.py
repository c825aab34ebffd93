"""Runs the hooks of a moment: in the sandbox of the conversation, within their time, on record."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deskagent.agent.hooks.answer import Answer, read
from deskagent.agent.hooks.named import Hook
from deskagent.agent.recorder import Recorder
from deskagent.errors import DeskagentError
from deskagent.session import talk
from deskagent.terminal import pipes, spawn
from deskagent.terminal.environment import base_env
from deskagent.terminal.lookup import StartError
from deskagent.terminal.process import Process
from deskagent.terminal.sandbox import Sandbox, SandboxError
from deskagent.terminal.types import Command, End, Limits, Policy

_log = logging.getLogger(__name__)
_KEPT = 4000
"""Characters of its output that are kept with the session."""
_MOST = 1 << 20
_TICK = 0.05


@dataclass(frozen=True)
class Hooks:
    """hooks: that may run. confined: sandbox and policy as they are now. mode: likewise. ended: why all work is to end,
    where one said so."""

    recorder: Recorder
    project: Path
    hooks: Sequence[Hook]
    confined: Callable[[], tuple[Sandbox, Policy]]
    mode: Callable[[], str]
    ended: list[str] = field(default_factory=list)

    def at(
        self, on: str, about: Mapping[str, Any], *, tool: str = "", cancel: threading.Event | None = None
    ) -> Answer:
        """Runs those of a moment one after the other; the first that holds up is the last. Blocks. about: what they are
        told beside what all are told."""
        held, stop, context, told = "", "", [], []
        for hook in self.hooks:
            if hook.on != on or not hook.fits(tool):
                continue
            answer = self._run(hook, about, cancel)
            context += [answer.context] if answer.context else []
            told += [answer.told] if answer.told else []
            if answer.told:
                self.recorder.notice("warning", f"The hook {hook.command!r} at {on}: {answer.told}")
            self.ended.extend([answer.stop] if answer.stop else [])
            if answer.held or answer.stop:
                held, stop = answer.held, answer.stop
                break
        return Answer(held, "\n".join(context), "\n".join(told), stop)

    def tell(self, message: str) -> None:
        """Runs those of Notification, and doesn't wait for them."""
        if any(hook.on == "Notification" for hook in self.hooks):
            threading.Thread(target=self._tell, args=(message,), daemon=True).start()

    def _tell(self, message: str) -> None:
        try:
            self.at("Notification", {"message": message})
        except DeskagentError as error:
            _log.warning("hooks of Notification: %s", error)

    async def wait(self, on: str, about: Mapping[str, Any]) -> Answer:
        """As `at`, beside other work; cancelled, it ends them."""
        cancel = threading.Event()
        try:
            return await asyncio.to_thread(self.at, on, about, cancel=cancel)
        except asyncio.CancelledError:
            cancel.set()
            raise

    def _run(self, hook: Hook, about: Mapping[str, Any], cancel: threading.Event | None) -> Answer:
        id = self.recorder.new_id("hook")
        self.recorder.emit(talk.HookBegun(id=id, on=hook.on, command=hook.command, source=str(hook.source)))
        told = {
            "session_id": self.recorder.journal.id,
            "transcript_path": str(self.recorder.journal.path),
            "cwd": str(self.project),
            "permission_mode": self.mode(),
            "hook_event_name": hook.on,
            **about,
        }
        began = time.monotonic()
        end, code, out, err = self._ran(hook, json.dumps(told).encode(), cancel)
        answer = read(hook.on, end, code, out, err)
        self.recorder.emit(
            talk.HookEnded(
                id=id,
                end=str(end),
                code=code,
                seconds=time.monotonic() - began,
                output=(out + err)[:_KEPT],
                blocked=bool(answer.held or answer.stop),
            )
        )
        return answer

    def _ran(self, hook: Hook, told: bytes, cancel: threading.Event | None) -> tuple[End, int, str, str]:
        """How it ended, and what it printed on stdout and stderr."""
        sandbox, policy = self.confined()
        env = {
            **base_env(),
            "CLAUDE_PROJECT_DIR": str(self.project),
            "DESKAGENT_PROJECT_DIR": str(self.project),
        }
        command = Command(("sh", "-c", hook.command), self.project, env)
        try:
            process = spawn.start(
                command, sandbox=sandbox, policy=policy, limits=Limits(seconds=hook.seconds)
            )
        except (StartError, SandboxError) as error:
            return End.NOT_FOUND, 127, "", str(error)
        printed: list[bytes] = []
        with process:
            reading = threading.Thread(target=_drain, args=(process, printed), daemon=True)
            reading.start()
            try:
                process.send(told, timeout=hook.seconds)
            except (BrokenPipeError, TimeoutError):
                pass  # it needn't read what it is told
            process.end_input()
            result = None
            while result is None:
                result = process.wait(_TICK)
                if cancel is not None and cancel.is_set():
                    process.terminate()
            reading.join()
        text = b"".join(printed).decode("utf-8", "replace")
        return result.end, result.code, text, (result.head + result.tail).decode("utf-8", "replace")


def _drain(process: Process, into: list[bytes]) -> None:
    """All of its stdout, of which the beginning is kept."""
    size = 0
    while piece := process.stdout.exactly(pipes.CHUNK):
        if size < _MOST:
            into.append(piece[: _MOST - size])
        size += len(piece)
