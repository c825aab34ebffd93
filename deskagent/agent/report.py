"""The result of a run as plain data: what `--output-format json` prints and the journal keeps."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from deskagent.agent.fix import Fix
from deskagent.agent.recorder import Recorder
from deskagent.agent.signals import words
from deskagent.repair import choose
from deskagent.repair.diff import readable
from deskagent.repair.search import Trial

_SHOWN_SUSPECTS = 10
_SHOWN_RIVALS = 20
_TOKENS = ("prompt", "cached", "thinking", "output")


class Status(StrEnum):
    """How a run ended, in one word."""

    FIXED = "fixed"
    NOTHING_TO_FIX = "nothing_to_fix"
    NOT_FIXED = "not_fixed"
    LIMIT = "limit"
    ERROR = "error"


_EXIT = {Status.FIXED: 0, Status.NOTHING_TO_FIX: 0, Status.NOT_FIXED: 1, Status.LIMIT: 53}
_SUBTYPE = {
    Status.FIXED: "success",
    Status.NOTHING_TO_FIX: "success",
    Status.NOT_FIXED: "error_not_fixed",
    Status.LIMIT: "error_limit",
    Status.ERROR: "error_during_execution",
}


@dataclass
class Report:
    """Collects what a result needs while the run goes on, so that one can be made at any moment."""

    request: str
    session_id: str = ""
    resumed: bool = False
    status: Status = Status.ERROR
    exit_code: int = 1
    fix: Fix | None = None
    recorder: Recorder | None = None
    applied: bool = False
    apply_note: str = ""
    error: dict[str, str] | None = None
    started: float = field(default_factory=time.monotonic)

    def end(self, status: Status) -> None:
        self.status = status
        self.exit_code = _EXIT[status]

    def fail(self, error: BaseException, exit_code: int) -> None:
        """An error or a signal ended the run."""
        self.status, self.exit_code = Status.ERROR, exit_code
        self.error = words(error)

    def result(self) -> dict[str, Any]:
        """The event of type `result`."""
        seconds = time.monotonic() - self.started
        steps = [step.as_dict() for step in self.recorder.steps] if self.recorder else []
        fix = self.fix
        models = _models(fix)
        return {
            "type": "result",
            "subtype": _SUBTYPE[self.status],
            "status": str(self.status),
            "exit_code": self.exit_code,
            "is_error": self.exit_code != 0,
            "session_id": self.session_id,
            "resumed": self.resumed,
            "request": self.request,
            "test_command": _command(fix),
            "patch": _patch(fix, fix.chosen) if fix and fix.chosen else None,
            "applied": self.applied,
            "apply_note": self.apply_note,
            "evidence": _evidence(fix),
            "alternatives": _alternatives(fix),
            "suspects": _suspects(fix),
            "regression": fix.looked_back.as_dict() if fix and fix.looked_back else None,
            "ruled_out": _ruled_out(fix),
            "candidates": fix.tried if fix else 0,
            "seconds": round(seconds, 3),
            "duration_ms": round(seconds * 1000),
            "tier": str(fix.tier) if fix else None,
            "steps": steps,
            "sandbox": str(fix.sandbox.rung) if fix else None,
            "notices": [n.text for n in self.recorder.notices] if self.recorder else [],
            "models": models,
            "usage": {f"{n}_tokens": sum(m["tokens"][n] for m in models) for n in _TOKENS},
            "total_cost_usd": round(sum(m["cost_usd"] for m in models), 6),
            "error": self.error,
        }


def _models(fix: Fix | None) -> list[dict[str, Any]]:
    """What each model did that worked beside the search."""
    if fix is None or fix.race is None:
        return []
    return fix.race.as_list(fix.search.green if fix.search else (), fix.chosen)


def _command(fix: Fix | None) -> dict[str, Any] | None:
    if fix is None or fix.command is None:
        return None
    command = fix.command
    return {"line": command.line, "detected": command.detected, "how": command.how, "runner": command.runner}


def _patch(fix: Fix, trial: Trial) -> dict[str, Any]:
    """A patch that passes: `reasons` are what put it where it stands among its like, each on the scale of natural
    logarithms of odds; `cluster` is shared by patches that did the same on every input tried (0: not known)."""
    candidate = trial.candidate
    choice = fix.greens.choice(trial)
    changes = fix.changes(trial)
    return {
        "diff": readable(changes),
        "files": [{"path": path} for path in sorted(changes)],
        "path": candidate.path,
        "line": candidate.line,
        "operator": candidate.operator,
        "note": candidate.note,
        "candidate_index": trial.number,
        "score": round(choice.score, 3) if choice else None,
        "cluster": choice.cluster if choice else 0,
        "reasons": [
            {"sign": r.name, "weight": round(r.weight, 3), "text": r.text}
            for r in (choice.reasons if choice else ())
        ],
    }


def _alternatives(fix: Fix | None) -> list[dict[str, Any]]:
    if fix is None or fix.chosen is None:
        return []
    return [
        _patch(fix, rival)
        | {
            "apart": choose.apart(fix.chosen, rival, fix.greens.behaviour),
            "separation": _separation(fix, fix.chosen, rival),
        }
        for rival in fix.rivals[:_SHOWN_RIVALS]
    ]


def _separation(fix: Fix, chosen: Trial, rival: Trial) -> dict[str, Any] | None:
    """An input on which a rival and the chosen patch differ, with what each makes of it; None where none was seen."""
    found = choose.separate(chosen, rival, fix.greens.behaviour)
    if found is None:
        return None
    outputs = {"chosen": found.best, "this": found.rival, "unedited": found.unedited}
    return {"input": found.call, "outputs": outputs, "made_up": found.made_up}


def _evidence(fix: Fix | None) -> dict[str, Any] | None:
    if fix is None or fix.before is None:
        return None
    failed = [{"id": t.id, "outcome": str(t.outcome), "message": t.message[-4000:]} for t in fix.failing]
    if fix.chosen is None or fix.after is None:
        return {"failing_before": failed, "before": fix.before.as_dict()}
    return {
        "failing_before": failed,
        "failed_before_pass_now": [t["id"] for t in failed if t["id"] not in fix.after.left],
        "fail_as_before": list(fix.after.left),
        "passed_before_pass_now": [t.id for t in fix.baseline.passing] if fix.baseline else [],
        "before": fix.before.as_dict(),
        "after": fix.after.as_dict(),
    }


def _suspects(fix: Fix | None) -> list[dict[str, Any]]:
    places = fix.suspects[:_SHOWN_SUSPECTS] if fix else ()
    return [
        {"path": s.path, "line": s.line, "score": round(s.score, 4), "reasons": list(s.reasons)}
        for s in places
    ]


def _ruled_out(fix: Fix | None) -> dict[str, Any] | None:
    """What was tried in vain: by kind of edit, and by place."""
    if fix is None or not fix.red:
        return None
    kinds = Counter(trial.operator for trial in fix.red)
    places = Counter(f"{trial.path}:{trial.line}" for trial in fix.red)
    return {
        "tried": len(fix.red),
        "by_operator": dict(kinds.most_common()),
        "by_place": dict(places.most_common(20)),
    }
