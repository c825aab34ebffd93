"""What of the found would come over: what is new, what is here already, what stays. Nothing is done yet."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from deskagent import paths
from deskagent.agent.converse import standing
from deskagent.agent.hooks import named as hooks
from deskagent.agent.servers import named
from deskagent.errors import DeskagentError
from deskagent.imports.found import Found, Hook, Permission, Server, Session
from deskagent.session import events, reading, store
from deskagent.session.redact import redact_text

_BEGINNING = 4
"""Events in which a session says where it comes from."""


@dataclass
class Plan:
    """source: its name. here: how many are here already, by kind. instructions: text to be added by its mark."""

    source: str
    found: Found
    sessions: list[Session] = field(default_factory=list)
    instructions: dict[str, str] = field(default_factory=dict)
    servers: list[Server] = field(default_factory=list)
    permissions: list[Permission] = field(default_factory=list)
    skills: list[Path] = field(default_factory=list)
    hooks: list[Hook] = field(default_factory=list)
    here: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        return not any(
            (self.sessions, self.instructions, self.servers, self.permissions, self.skills, self.hooks)
        )


def plan(source: str, found: Found, kinds: Collection[str]) -> Plan:
    """Errors: UsageError where our own settings can't be read."""
    made = Plan(source, found, notes=list(found.notes))
    for kind in (kind for kind in _KINDS if kind in kinds):
        _KINDS[kind](made)
    return made


def skills_folder() -> Path:
    """Where the person's own skills are."""
    return paths.config_dir() / "skills"


def instructions_file() -> Path:
    return paths.config_dir() / "AGENTS.md"


def brought(source: str) -> set[str]:
    """The other agent's ids of sessions that were brought over."""
    found: set[str] = set()
    for folder in store.folders():
        try:
            for number, record in enumerate(reading.records(store.segments(folder)[:1], 0, [])):
                if isinstance(record.event, events.Imported) and record.event.source == source:
                    found.add(record.event.key)
                if number >= _BEGINNING:
                    break
        except (OSError, DeskagentError):
            continue  # one that can't be read is listed as such; it keeps none from coming
    return found


def _sessions(made: Plan) -> None:
    known = brought(made.source)
    for session in made.found.sessions:
        if session.key not in known:
            known.add(session.key)
            made.sessions.append(session)
    made.here["sessions"] = len(made.found.sessions) - len(made.sessions)


def _instructions(made: Plan) -> None:
    there = _text(instructions_file())
    for path in made.found.instructions:
        text = _text(path).strip()
        safe = redact_text(text)
        mark = f"{made.source} {path.name} {hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:12]}"
        if mark in there or not text:
            made.here["instructions"] = made.here.get("instructions", 0) + bool(text)
            continue
        made.instructions[mark] = safe
        if safe != text:
            made.notes.append(f"{path.name} holds secrets: they were left out.")


def _servers(made: Plan) -> None:
    known = named.entries(named.own_file())
    made.servers = [server for server in made.found.servers if server.name not in known]
    made.here["mcp"] = len(made.found.servers) - len(made.servers)


def _rules(made: Plan) -> None:
    known = standing.read()
    for permission in dict.fromkeys(made.found.permissions):
        if permission.rule not in known[permission.kind]:
            made.permissions.append(permission)
    made.here["rules"] = len(set(made.found.permissions)) - len(made.permissions)


def _skills(made: Plan) -> None:
    target = skills_folder()
    made.skills = [path for path in made.found.skills if not (target / path.name).exists()]
    made.here["skills"] = len(made.found.skills) - len(made.skills)


def _hooks(made: Plan) -> None:
    known = [(hook.on, hook.matcher, hook.command) for hook in hooks.own()]
    new = [hook for hook in made.found.hooks if (hook.on, hook.matcher, hook.command) not in known]
    made.hooks = list(dict.fromkeys(new))
    made.here["hooks"] = len(made.found.hooks) - len(new)


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


_KINDS = {
    "sessions": _sessions,
    "instructions": _instructions,
    "mcp": _servers,
    "rules": _rules,
    "skills": _skills,
    "hooks": _hooks,
}
