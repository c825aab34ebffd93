"""What a hook says by its exit code and its output, in Claude Code's form.

Exit 0: what it prints is context where the moment takes some; JSON is a decision. Exit 2: what it was asked about is
held up, and its stderr says why. Anything else is a fault of its own and holds nothing up. No answer of a hook permits
what the person's rules don't: "allow" says no more than nothing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from deskagent.terminal.types import End

HELD = 2
_LONGEST = 10_000
_TAKES = ("SessionStart", "UserPromptSubmit")
"""Moments whose plain output the model gets to see."""


@dataclass(frozen=True, slots=True)
class Answer:
    """held: why what was about to happen must not, "" where it may. context: for the model. told: for the person. stop:
    why all work is to end, "" where it goes on."""

    held: str = ""
    context: str = ""
    told: str = ""
    stop: str = ""


def read(on: str, end: End, code: int, out: str, err: str) -> Answer:
    """on: the moment. out, err: what it printed."""
    out, err = out.strip()[:_LONGEST], err.strip()[:_LONGEST]
    if end is not End.EXITED:
        return Answer(told=f"it was ended ({end}). {err}".strip())
    if code == HELD:
        return Answer(held=err or out or "a hook held it up")
    if code != 0:
        return Answer(told=f"it failed with {code}. {err or out}".strip())
    found = _object(out)
    if found is None:
        return Answer(context=out) if on in _TAKES else Answer()
    return _decision(found)


def _decision(found: dict[str, Any]) -> Answer:
    more = found.get("hookSpecificOutput")
    more = more if isinstance(more, dict) else {}
    held = ""
    if found.get("decision") == "block" or more.get("permissionDecision") in ("deny", "ask"):
        held = (
            _text(more.get("permissionDecisionReason")) or _text(found.get("reason")) or "a hook held it up"
        )
    stop = ""
    if found.get("continue") is False:
        stop = _text(found.get("stopReason")) or "a hook ended the work"
    return Answer(held, _text(more.get("additionalContext")), _text(found.get("systemMessage")), stop)


def _text(value: object) -> str:
    return value.strip()[:_LONGEST] if isinstance(value, str) else ""


def _object(text: str) -> dict[str, Any] | None:
    if not text.startswith("{"):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
