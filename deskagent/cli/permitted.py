"""Rules that the person said `always` to, kept with their settings: what a project holds never allows anything."""

from __future__ import annotations

import json
from pathlib import Path

from deskagent import paths
from deskagent.agent.converse.rules import Rule
from deskagent.cli.here import here
from deskagent.errors import UsageError
from deskagent.session import settings


def kept() -> list[str]:
    """The rules for this folder. Errors: UsageError where the file can't be read."""
    return _read().get(str(here()), [])


def keep(rule: Rule) -> None:
    """Errors: TransientError."""
    every = _read()
    own = every.setdefault(str(here()), [])
    if str(rule) not in own:
        own.append(str(rule))
    settings.save(_file(), json.dumps(every, indent=1), "keep the rule")


def _file() -> Path:
    return paths.config_dir() / "allowed.json"


def _read() -> dict[str, list[str]]:
    try:
        found = json.loads(_file().read_text("utf-8"))
        return {str(folder): [str(rule) for rule in rules] for folder, rules in found.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise UsageError(
            f"The rules in {_file()} can't be read: {error}.", hint="Mend or remove it."
        ) from error
