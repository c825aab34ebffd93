"""Which of the tools a model is told of, by what it can do and does best. It may call the others all the same."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from deskagent.providers.base import Capabilities
from deskagent.tools.base import Tool

_WITHOUT: Mapping[str, tuple[str, ...]] = {
    "exact": ("patch",),
    "patch": ("edit",),
    "whole": ("edit", "patch"),
}
"""Form of edits → tools of the other forms. `write` is there in all: for new files, and for the form `whole`."""
_HAS = {"exact": "edit", "patch": "patch", "whole": "write"}


_LEFT_OUT = ("job", "fetch", "git", "todo", "log", "agent", "skill", "symbols", "repair", "ask", "glob")
"""What a model with little room isn't told of, the first ones first: a shell or the other tools do most of it too."""
_SHARE = 4
"""Tools may take one part in so many of the context."""
_LETTERS = 3.6
"""Of a tool's description a token, as a public vocabulary for code has it."""


def fitting(tools: Mapping[str, Tool[Any]], able: Capabilities) -> dict[str, Tool[Any]]:
    """Those of `tools` that suit: one form of edits, where the tool of the wanted one is among them, no pictures for
    who can't see, and not more than there is room for."""
    out = set(_WITHOUT[able.edits]) if _HAS[able.edits] in tools else set()
    if not able.images:
        out.add("image")
    found = {name: tool for name, tool in tools.items() if name not in out}
    sizes = {name: _tokens(tool) for name, tool in found.items()}
    for name in _LEFT_OUT:
        if sum(sizes[each] for each in found) <= able.context / _SHARE:
            break
        found.pop(name, None)
    return found


def _tokens(tool: Tool[Any]) -> float:
    """About how many it takes to describe it."""
    return len(tool.prompt + json.dumps(tool.arguments.model_json_schema())) / _LETTERS
