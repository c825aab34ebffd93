"""What a conversation may do now: its mode, with the sandbox, the writable folders and the gate that follow from it.

The person alone changes it: by a command, or by approving a plan. Subagents share it, so that none has wider rights.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from deskagent.agent.converse.gate import Gate
from deskagent.agent.converse.rules import Rule, Rules
from deskagent.agent.front import Question
from deskagent.agent.permissions import Mode
from deskagent.terminal.sandbox import Sandbox, Unconfined, find_sandbox
from deskagent.terminal.sandbox.protect import protected_paths
from deskagent.terminal.types import Policy, Rung

_LANDLOCK = (
    "Only Landlock confines commands here, and inside a folder that they write to it protects nothing. So they run "
    "without a sandbox, and you are asked for each. bubblewrap would do: apt install bubblewrap."
)


class Rights:
    """warn: tells the person something."""

    def __init__(
        self,
        project: Path,
        mode: Mode,
        rules: Rules,
        interactive: bool,
        ask: Callable[[Question, tuple[str, ...]], str],
        save: Callable[[Rule], None],
        warn: Callable[[str], None],
    ) -> None:
        self._project, self._warn = project, warn
        self._changing = threading.Lock()
        self._sandbox = self._confined(mode)
        self.gate = Gate(mode, self._sandbox.rung, rules, interactive, ask, save)

    @property
    def mode(self) -> Mode:
        return self.gate.mode

    @property
    def now(self) -> tuple[Sandbox, Policy]:
        """What confines a command that is permitted now."""
        with self._changing:
            writable = () if self.mode is Mode.PLAN else (self._project,)
            return self._sandbox, Policy(writable=writable, read_only=protected_paths(self._project))

    def change(self, mode: Mode) -> None:
        """From the next call on. What runs already goes on as it was permitted."""
        sandbox = self._confined(mode)
        with self._changing:
            self._sandbox = sandbox
            self.gate.mode, self.gate.rung = mode, sandbox.rung

    def _confined(self, mode: Mode) -> Sandbox:
        """Landlock can't keep git's own files and settings safe inside a folder that is written to, so it serves where
        nothing is."""
        if mode is Mode.FULL:
            return Unconfined()
        found = find_sandbox()
        if found.rung is Rung.LANDLOCK and mode is not Mode.PLAN:
            self._warn(_LANDLOCK)
            return Unconfined()
        return found
