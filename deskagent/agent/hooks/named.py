"""Which hooks there are: `hooks.json` with the person's settings, `.agents/hooks.json` of a project that they trust.

Both are in Claude Code's form: {"hooks": {"PreToolUse": [{"matcher": "edit|write", "hooks": [{"type": "command",
"command": "…", "timeout": 60}]}]}}. A matcher is a regular expression that a tool's whole name fits; "" and "*" are
all.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deskagent import paths
from deskagent.agent.given.found import PROJECT
from deskagent.errors import UsageError
from deskagent.session import settings

MOMENTS = (
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "PreCompact", "Notification",
)  # fmt: skip
SECONDS, MOST_SECONDS = 60.0, 600.0
FILE = "hooks.json"
_LARGEST = 1 << 20

Warn = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Hook:
    """on: one of `MOMENTS`. matcher: of tools' names. seconds: that it may take. source: the file that names it.
    project: whose file that is, None for the person's own."""

    on: str
    matcher: str
    command: str
    seconds: float
    source: Path
    project: Path | None

    @property
    def fingerprint(self) -> str:
        """Of what it runs and when."""
        said = json.dumps([self.on, self.matcher, self.command, self.seconds])
        return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()

    def fits(self, tool: str) -> bool:
        """Whether it is about this tool; "" where the moment isn't about one."""
        return not tool or self.matcher in ("", "*") or re.fullmatch(self.matcher, tool) is not None


def own_file() -> Path:
    return paths.config_dir() / FILE


def named(project: Path, *, trusted: bool, warn: Warn) -> list[Hook]:
    """The person's own first, each file's in its order. What can't be used in a project's file is said by `warn`.

    Errors: UsageError where the person's own file can't be used: a hook that should hold something up must not be
    missed in silence.
    """
    found = own()
    if trusted:
        try:
            found += _read(project / PROJECT / FILE, project)
        except UsageError as error:
            warn(f"The project's hooks are left out: {error.message}")
    return found


def own() -> list[Hook]:
    """The person's own. Errors: UsageError."""
    return list(_read(own_file(), None))


def add(more: Iterable[tuple[str, str, str, float]]) -> None:
    """Adds hooks of the person's own: moment, matcher, command, seconds. Errors: UsageError, TransientError."""
    groups: dict[str, list[Any]] = {}
    every = [(hook.on, hook.matcher, hook.command, hook.seconds) for hook in own()]
    for on, matcher, command, seconds in [*every, *more]:
        run = {"type": "command", "command": command, "timeout": seconds}
        groups.setdefault(on, []).append({"matcher": matcher, "hooks": [run]})
    settings.save(
        own_file(), json.dumps({"hooks": groups}, indent=1, ensure_ascii=False) + "\n", "keep the hooks"
    )


def _read(file: Path, project: Path | None) -> Iterator[Hook]:
    if not file.exists():
        return iter(())
    try:
        if file.stat().st_size > _LARGEST or (project and not file.resolve().is_relative_to(project)):
            raise ValueError("it is too large, or leads out of the project")
        return iter(list(_hooks(json.loads(file.read_text("utf-8")), file, project)))
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(f"{file} can't be used: {error}.", hint="Mend or remove it.") from error


def _hooks(found: Any, file: Path, project: Path | None) -> Iterator[Hook]:
    """Errors: ValueError and its like, for what is no hook."""
    for on, groups in found.get("hooks", {}).items():
        if on not in MOMENTS:
            raise ValueError(f"{on!r} is no moment; there are {', '.join(MOMENTS)}")
        for group in groups:
            matcher = group.get("matcher", "")
            try:
                re.compile(matcher if matcher != "*" else "")
            except re.error as error:
                raise ValueError(f"the matcher {matcher!r} of {on}: {error}") from None
            for each in group.get("hooks", ()):
                command, seconds = each.get("command"), float(each.get("timeout", SECONDS))
                if (
                    each.get("type", "command") != "command"
                    or not isinstance(command, str)
                    or not command.strip()
                ):
                    raise ValueError(f"a hook of {on} has no command")
                if not 0 < seconds <= MOST_SECONDS:
                    raise ValueError(f"a hook of {on} may take {MOST_SECONDS:.0f} seconds at most")
                yield Hook(on, matcher, command, seconds, file, project)
