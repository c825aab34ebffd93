"""The agents that can be brought over from, by the name that the command takes."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path

from deskagent.errors import UsageError
from deskagent.imports.found import Found


@dataclass(frozen=True, slots=True)
class Source:
    """title: for people. module: holds `look`, which gives what there is."""

    title: str
    module: str


SOURCES = {
    "claude": Source("Claude Code", "deskagent.imports.claude"),
    "codex": Source("Codex", "deskagent.imports.codex"),
    "opencode": Source("opencode", "deskagent.imports.opencode"),
    "kimi": Source("kimi-cli", "deskagent.imports.kimi"),
}


def look(name: str) -> Found:
    """What the agent `name` keeps for this person. Errors: UsageError where it keeps nothing."""
    source = SOURCES[name]
    found = importlib.import_module(source.module).look(Path.home())
    if not found.home.is_dir():
        raise UsageError(
            f"{source.title} keeps nothing here: there is no {found.home}.",
            hint="Its own variables name another folder: CLAUDE_CONFIG_DIR, CODEX_HOME, KIMI_SHARE_DIR, XDG_DATA_HOME.",
        )
    return found
