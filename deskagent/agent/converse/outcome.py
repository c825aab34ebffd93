"""How a piece of a conversation ended, as plain data: what `--output-format json` prints and the journal keeps."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from deskagent.agent import past
from deskagent.agent.converse.talk import Talk
from deskagent.agent.costs import as_dicts, by_tier
from deskagent.agent.loop import State
from deskagent.agent.signals import words
from deskagent.messages import Answer, Outcome

LIMIT_CODE = 53


@dataclass
class Result:
    """Filled while it goes on, so that one can be given at any moment."""

    request: str
    talk: Talk | None = None
    state: State | None = None
    error: dict[str, str] | None = None
    exit_code: int = 1
    started: float = field(default_factory=time.monotonic)

    def end(self, state: State) -> None:
        self.state = state
        limited = self.talk is not None and self.talk.why.startswith("The limit of")
        self.exit_code = 0 if state is State.DONE else LIMIT_CODE if limited else 1

    def fail(self, error: BaseException, exit_code: int) -> None:
        self.exit_code, self.error = exit_code, words(error)

    @property
    def subtype(self) -> str:
        if self.error is not None:
            return "error_during_execution"
        if self.state is State.DONE:
            return "success"
        if self.exit_code == LIMIT_CODE and self.talk is not None:
            return "error_max_turns" if "turns" in self.talk.why else "error_limit"
        return "error_during_execution"

    def as_dict(self) -> dict[str, Any]:
        """The event of type `result`."""
        recorder = self.talk.recorder if self.talk else None
        steps = recorder.steps if recorder else []
        rows = by_tier(steps, self.talk.provider.capabilities.price) if self.talk else []
        turns = self.talk.history.turns() if self.talk else ()
        last = next((turn for turn in reversed(turns) if isinstance(turn, Answer) and turn.text), None)
        names = ("prompt", "cached", "thinking", "output")
        seconds = time.monotonic() - self.started
        return {
            "type": "result",
            "subtype": self.subtype,
            "is_error": self.exit_code != 0,
            "exit_code": self.exit_code,
            "session_id": recorder.journal.id if recorder else "",
            "request": self.request,
            "result": last.text if last and self.state is State.DONE else "",
            "why": self.talk.why if self.talk else "",
            "num_turns": self.talk.turns if self.talk else 0,
            "seconds": round(seconds, 3),
            "duration_ms": round(seconds * 1000),
            "model": self.talk.provider.name if self.talk else "",
            "usage": {f"{n}_tokens": sum(step.tokens.get(n, 0) for step in steps) for n in names},
            "total_cost_usd": round(sum(step.cost_usd for step in steps), 6),
            "tiers": {row.tier: row.asks for row in rows},
            "costs": as_dicts(rows),
            "permission_denials": [
                used.call.name
                for turn in turns
                if isinstance(turn, Answer)
                for used in turn.used
                if used.result.outcome is Outcome.REFUSED
            ],
            "changed_files": self._changed(),
            "notices": [notice.text for notice in recorder.notices] if recorder else [],
            "error": self.error,
        }

    def _changed(self) -> list[str]:
        if self.talk is None:
            return []
        changes = past.read(self.talk.recorder.journal).changes
        return sorted({file.path for change in changes if change.made for file in change.intent.files})
