"""Hooks before and after calls of tools."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import msgspec

from deskagent.agent.converse.acting import Watch
from deskagent.agent.hooks.running import Hooks
from deskagent.messages import Call, Result, Text
from deskagent.tools.base import Context, Wish


@dataclass
class Hooked:
    """A Watch. inner: what else looks on."""

    inner: Watch
    hooks: Hooks
    _notes: dict[str, str] = field(default_factory=dict)

    def before(self, call: Call, context: Context) -> str:
        answer = self.hooks.at("PreToolUse", _about(call), tool=call.name, cancel=context.cancel)
        if why := answer.held or answer.stop:
            return f"Not done: a hook held it up. {why}"
        if answer.context:
            self._notes[call.id] = answer.context
        return self.inner.before(call, context)

    def after(self, call: Call, wish: Wish, result: Result, context: Context) -> Result:
        result = self.inner.after(call, wish, result, context)
        told = "\n".join(part.text for part in result.content if isinstance(part, Text))
        about = {**_about(call), "tool_response": {"outcome": str(result.outcome), "text": told}}
        answer = self.hooks.at("PostToolUse", about, tool=call.name, cancel=context.cancel)
        notes = filter(None, (self._notes.pop(call.id, ""), answer.held, answer.context))
        more = tuple(Text(f"A hook says: {note}") for note in notes)
        return msgspec.structs.replace(result, content=(*result.content, *more)) if more else result


def _about(call: Call) -> dict[str, Any]:
    try:
        given = json.loads(call.arguments or "{}")
    except ValueError:
        given = call.arguments
    return {"tool_name": call.name, "tool_input": given, "tool_use_id": call.id}
