"""What was found of another agent, as plain data: nothing is brought over before the person has seen it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deskagent.imports.scribe import Scribe

KINDS = ("sessions", "instructions", "mcp", "rules", "skills", "hooks")
"""What can be brought over, by the names that `--only` takes."""


@dataclass(frozen=True, slots=True)
class Session:
    """key: the other agent's own id. started: Unix seconds. size: bytes on the disk. read: tells a scribe all of it,
    and gives how many pieces couldn't be read."""

    key: str
    cwd: str
    title: str
    started: float
    size: int
    read: Callable[[Scribe], int]


@dataclass(frozen=True, slots=True)
class Server:
    """An MCP server as our settings have it. keys: names of secrets that stay where they are."""

    name: str
    settings: dict[str, Any]
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Permission:
    """kind: allow, ask or deny. rule: in our words."""

    kind: str
    rule: str


@dataclass(frozen=True, slots=True)
class Hook:
    """As in `agent.hooks.named`, in our words."""

    on: str
    matcher: str
    command: str
    seconds: float


@dataclass(slots=True)
class Found:
    """notes: what can't be brought over, in words. skills: folders that hold a SKILL.md."""

    home: Path
    sessions: list[Session] = field(default_factory=list)
    instructions: list[Path] = field(default_factory=list)
    servers: list[Server] = field(default_factory=list)
    permissions: list[Permission] = field(default_factory=list)
    skills: list[Path] = field(default_factory=list)
    hooks: list[Hook] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
