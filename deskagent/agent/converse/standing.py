"""Rules of the person's own that stand in every folder: `permissions.json` among their settings.

`{"allow": ["terminal(npm run *)"], "ask": [], "deny": ["read(.env)"]}`; no project can add to it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from deskagent import paths
from deskagent.agent.converse.rules import Rule
from deskagent.errors import UsageError
from deskagent.session import settings

KINDS = ("allow", "ask", "deny")


def path() -> Path:
    return paths.config_dir() / "permissions.json"


def read() -> dict[str, list[str]]:
    """The rules by kind. Errors: UsageError where the file can't be read or holds what is no rule."""
    try:
        found = json.loads(path().read_text("utf-8"))
        rules = {kind: [str(Rule.parse(rule)) for rule in found.get(kind, [])] for kind in KINDS}
    except FileNotFoundError:
        return {kind: [] for kind in KINDS}
    except (OSError, ValueError, AttributeError, TypeError, UsageError) as error:
        raise UsageError(
            f"The rules in {path()} can't be read: {error}.", hint="Mend or remove it."
        ) from error
    return rules


def add(more: Mapping[str, Sequence[str]]) -> None:
    """Adds rules that aren't there. Errors: UsageError, TransientError."""
    kept = read()
    every = {kind: list(dict.fromkeys([*kept[kind], *more.get(kind, ())])) for kind in KINDS}
    settings.save(path(), json.dumps(every, indent=1, ensure_ascii=False) + "\n", "keep the rules")
