"""What a call is about, in a line: the argument that says most, also while it is still being written."""

from __future__ import annotations

import json
import re

_SAYS = ("command", "path", "pattern", "words", "query", "url", "task", "question", "plan", "name")
"""Arguments that say what a call is about, the first of them that is there."""
_LONGEST = 400
_WRITTEN = re.compile(r'"(\w+)"\s*:\s*"((?:[^"\\]|\\.)*)')


def about(arguments: str) -> str:
    """arguments: JSON, maybe unfinished; the text as it stands where it is neither."""
    try:
        found = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        found = {name: _plain(value) for name, value in _WRITTEN.findall(arguments[:4096])} or arguments
    if not isinstance(found, dict):
        return str(found)[:_LONGEST]
    if not found:
        return ""
    name = next((name for name in _SAYS if name in found), next(iter(found)))
    return _said(found[name])[:_LONGEST]


def _said(value: object) -> str:
    """A text as it is, a list's texts one after the other, anything else as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return " · ".join(_said(each.get("text", each) if isinstance(each, dict) else each) for each in value)
    return json.dumps(value, ensure_ascii=False)


def _plain(value: str) -> str:
    return value.replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\")
