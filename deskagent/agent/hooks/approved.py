"""Which hooks of projects the person approved: by the fingerprint of what they run, for each project apart."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from deskagent import paths
from deskagent.agent.hooks.named import Hook
from deskagent.session import settings


def holds(hook: Hook) -> bool:
    """Whether it may run: it is the person's own, or approved as it is now."""
    return hook.project is None or hook.fingerprint in _read().get(str(hook.project), ())


def keep(project: Path, hooks: Iterable[Hook]) -> None:
    """These of the project's hooks are approved from now on, and no others. Errors: TransientError."""
    every = _read()
    every.pop(str(project), None)
    if found := [hook.fingerprint for hook in hooks]:
        every[str(project)] = found
    settings.save(_file(), json.dumps(every, indent=1), "keep the approval")


def _file() -> Path:
    return paths.config_dir() / "hooks-approved.json"


def _read() -> dict[str, list[str]]:
    """An approval that can't be read is none."""
    try:
        found = json.loads(_file().read_text("utf-8"))
        return {str(project): [str(each) for each in prints] for project, prints in found.items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}
