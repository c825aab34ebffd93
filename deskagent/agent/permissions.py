"""What may happen without asking: permission modes and trusted folders."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from deskagent import paths
from deskagent.errors import UsageError
from deskagent.session import settings
from deskagent.terminal.types import Rung


class Mode(StrEnum):
    """plan: read only. ask: asks before a detected command runs and before anything is written.
    auto: doesn't ask inside the sandbox. full: no sandbox."""

    PLAN = "plan"
    ASK = "ask"
    AUTO = "auto"
    FULL = "full"


class Consent(StrEnum):
    """What stands before an action."""

    GIVEN = "given"
    ASK = "ask"


NO_SANDBOX_HINT = (
    "Install bubblewrap (`apt install bubblewrap`, `dnf install bubblewrap`), or run without a sandbox by "
    "`--permission-mode full`. `deskagent doctor` says what was tried."
)


@dataclass(frozen=True)
class Gate:
    """The one permission gate of a run. `interactive` says whether there is a person to ask."""

    mode: Mode
    rung: Rung
    interactive: bool
    trusted: bool

    def run_tests(self, *, given: bool, line: str) -> Consent:
        """May the test command `line` run? `given` says that the person typed it. UsageError where nobody
        can be asked and the answer isn't already known."""
        if self.mode is Mode.FULL:
            return Consent.GIVEN
        if self.rung is Rung.NONE:
            return self._ask(f"No sandbox works on this machine, so `{line}` was not run.", NO_SANDBOX_HINT)
        if given or self.mode is Mode.AUTO or self.trusted:
            return Consent.GIVEN
        return self._ask(
            f"`{line}` was detected in a folder that is not trusted, so it was not run.",
            f"Name the command yourself (--test {line!r}), or trust the folder once by `deskagent trust`.",
        )

    def write(self) -> Consent | None:
        """May a verified patch be applied? None: never in this mode."""
        if self.mode is Mode.PLAN:
            return None
        if self.mode in (Mode.AUTO, Mode.FULL) or not self.interactive:
            return Consent.GIVEN
        return Consent.ASK

    def _ask(self, message: str, hint: str) -> Consent:
        if not self.interactive:
            raise UsageError(message, hint=hint)
        return Consent.ASK


def _store() -> Path:
    return paths.config_dir() / "trusted.json"


def trusted_folders() -> list[str]:
    """The folders that the person trusts, as resolved paths. An unreadable list trusts nothing."""
    try:
        value = json.loads(_store().read_text("utf-8"))
    except (OSError, ValueError):
        return []
    return [v for v in value if isinstance(v, str)] if isinstance(value, list) else []


def is_trusted(folder: Path) -> bool:
    """Whether `folder` itself, not one above it, is trusted."""
    return os.fspath(folder.resolve()) in trusted_folders()


def trust(folder: Path, *, on: bool = True) -> None:
    """Adds `folder` to the trusted ones, or takes it out."""
    known = set(trusted_folders())
    change = known.add if on else known.discard
    change(os.fspath(folder.resolve()))
    settings.save(_store(), json.dumps(sorted(known), indent=1), "save the trusted folders")
