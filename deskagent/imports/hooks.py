"""Hooks of Claude Code's settings in our form: which is the same, but for the names of tools."""

from __future__ import annotations

import re
from typing import Any

from deskagent.agent.hooks.named import MOMENTS, MOST_SECONDS, SECONDS
from deskagent.imports.found import Found, Hook
from deskagent.imports.lines import items, mapping, words
from deskagent.imports.rules import CLAUDE

_PLAIN = re.compile(r"[\w|]*|\*")


def take(found: Found, settings: Any) -> None:
    """Adds what `settings` say under `hooks`."""
    for on, groups in mapping(settings).items():
        for group in map(mapping, groups if isinstance(groups, list) else ()):
            matcher = _matcher(words(group.get("matcher")))
            for each in items(group.get("hooks")):
                command = words(each.get("command"))
                if (
                    on not in MOMENTS
                    or matcher is None
                    or each.get("type") != "command"
                    or not command.strip()
                ):
                    found.notes.append(
                        f"A hook at {on} can't be said here: {command[:60] or each.get('type')}"
                    )
                    continue
                seconds = each.get("timeout", SECONDS)
                known = isinstance(seconds, int | float) and 0 < seconds <= MOST_SECONDS
                found.hooks.append(Hook(on, matcher, command, float(seconds) if known else SECONDS))


def _matcher(theirs: str) -> str | None:
    """The tools that it is about, by our names; None where that can't be said exactly."""
    if theirs in ("", "*") or theirs.startswith("mcp__"):
        return theirs
    if not _PLAIN.fullmatch(theirs):
        return None
    names = theirs.split("|")
    if any(name not in CLAUDE and not name.startswith("mcp__") for name in names):
        return None
    return "|".join(dict.fromkeys(ours for name in names for ours in CLAUDE.get(name, (name,))))
