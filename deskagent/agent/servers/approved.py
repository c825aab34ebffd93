"""What the person approved: what really runs, by its fingerprint, and what the server said of its tools then."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from deskagent import paths
from deskagent.agent.servers.named import Named
from deskagent.session import settings
from deskagent.tools.mcp.spec import Described


@dataclass(frozen=True, slots=True)
class Approval:
    """changed: the server was seen to say something else since."""

    fingerprint: str
    tools: tuple[Described, ...]
    changed: bool = False


def find(server: Named) -> Approval | None:
    """An approval that can't be read is none."""
    try:
        found = _read()[server.key]
        tools = tuple(Described(each["name"], each["description"], each["schema"]) for each in found["tools"])
        return Approval(str(found["fingerprint"]), tools, bool(found["changed"]))
    except (KeyError, TypeError, ValueError):
        return None


def holds(server: Named, approval: Approval | None) -> bool:
    """Whether it is still what was approved."""
    return (
        approval is not None
        and server.spec is not None
        and not approval.changed
        and approval.fingerprint == server.spec.fingerprint
    )


def keep(server: Named, approval: Approval | None) -> None:
    """None: it is approved no longer. Errors: TransientError."""
    every = _read()
    every.pop(server.key, None)
    if approval is not None:
        every[server.key] = asdict(approval)
    settings.save(_file(), json.dumps(every, indent=1), "keep the approval")


def _file() -> Path:
    return paths.config_dir() / "mcp-approved.json"


def _read() -> dict[str, Mapping[str, Any]]:
    try:
        found = json.loads(_file().read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return dict(found) if isinstance(found, dict) else {}
