"""Which of the tools a model is told of, by what it can do and does best. It may call the others all the same."""

from __future__ import annotations

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


def fitting(tools: Mapping[str, Tool[Any]], able: Capabilities) -> dict[str, Tool[Any]]:
    """Those of `tools` that suit: one form of edits, where the tool of the wanted one is among them, and no pictures
    for who can't see."""
    out = set(_WITHOUT[able.edits]) if _HAS[able.edits] in tools else set()
    if not able.images:
        out.add("image")
    return {name: tool for name, tool in tools.items() if name not in out}
