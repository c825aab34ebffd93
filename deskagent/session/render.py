"""Events laid out for reading: a title, short facts, long blocks; the same for every type, known or not."""

from __future__ import annotations

import shlex
import time
from typing import Any

import msgspec

_SHORT = 100  # characters that still are a fact


class Entry(msgspec.Struct, frozen=True):
    """An event to be read. All texts in it may come from anywhere."""

    seq: int
    title: str
    when: str
    facts: tuple[tuple[str, str], ...]
    blocks: tuple[tuple[str, str], ...]


def entry(seq: int, payload: dict[str, Any]) -> Entry:
    """The entry of an event given as plain values; what is empty is left out."""
    facts: list[tuple[str, str]] = []
    blocks: list[tuple[str, str]] = []
    for name, value in payload.items():
        if name in ("type", "time") or value in ("", [], {}, None):
            continue
        _lay_out(name, value, facts, blocks)
    kind = payload.get("type")
    title = kind.replace("_", " ").capitalize() if isinstance(kind, str) else "Event"
    return Entry(seq, title, moment(payload.get("time")), tuple(facts), tuple(blocks))


def moment(seconds: Any) -> str:
    """A time as the person's clock shows it; empty if it is none."""
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds)) if seconds else ""
    except (TypeError, ValueError, OverflowError, OSError):
        return ""


def _lay_out(name: str, value: Any, facts: list[tuple[str, str]], blocks: list[tuple[str, str]]) -> None:
    if isinstance(value, dict):
        for key, item in value.items():
            _lay_out(f"{name}.{key}", item, facts, blocks)
        return
    if isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        blocks.append((name, "\n".join(_inline(item) for item in value)))
        return
    text = _inline(value)
    (blocks if "\n" in text or len(text) > _SHORT else facts).append((name, text))


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return "  ".join(f"{key}: {_inline(item)}" for key, item in value.items() if item not in ("", [], {}))
    if isinstance(value, list):
        if all(isinstance(item, str) for item in value):
            return shlex.join(value)
        return ", ".join(_inline(item) for item in value)
    if isinstance(value, float):
        return f"{value:.6g}"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
