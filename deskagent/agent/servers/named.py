"""Which MCP servers there are: `mcp.json` with the person's settings, and `.mcp.json` of a project that they trust.

Both are in Claude Code's form: {"mcpServers": {"name": {"command": …, "args": […], "env": {…}}}}, or "url" and
"headers" of a service. Of two with one name, the person's own counts.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deskagent import paths
from deskagent.errors import UsageError
from deskagent.session import settings
from deskagent.tools.mcp.spec import Spec, read

_LARGEST = 1 << 20
FILE = ".mcp.json"


@dataclass(frozen=True, slots=True)
class Named:
    """spec: None where the settings make none; then error says why. project: whose file names it, None for the person's
    own."""

    name: str
    spec: Spec | None
    project: Path | None
    error: str = ""

    @property
    def key(self) -> str:
        """What its approval is kept under."""
        return f"{self.project}:{self.name}" if self.project else self.name


def own_file() -> Path:
    return paths.config_dir() / "mcp.json"


def named(project: Path, *, trusted: bool) -> list[Named]:
    """By name, the person's own first. Errors: UsageError where the person's own file can't be read."""
    found = {name: _named(name, entry, project, None) for name, entry in entries(own_file()).items()}
    if trusted:
        try:
            theirs = entries(project / FILE)
        except UsageError as error:
            return [*found.values(), Named(FILE, None, project, error.message)]
        for name, entry in theirs.items():
            found.setdefault(name, _named(name, entry, project, project))
    return list(found.values())


def entries(file: Path) -> dict[str, Any]:
    """The servers of a file as they are written, none where there is no file. Errors: UsageError."""
    if not file.exists():
        return {}
    try:
        if not file.is_file() or file.stat().st_size > _LARGEST:
            raise UsageError(f"{file} is no file of settings.")
        found = json.loads(file.read_text("utf-8"))
        servers = found.get("mcpServers", {})
        return dict(servers)
    except (OSError, ValueError, AttributeError, TypeError, RecursionError) as error:
        raise UsageError(f"{file} can't be read: {error}.", hint="Mend or remove it.") from error


def write(file: Path, servers: dict[str, Any]) -> None:
    """Puts servers in place of those in a file; what else stands there is kept. Errors: TransientError, UsageError."""
    entries(file)
    whole = json.loads(file.read_text("utf-8")) if file.exists() else {}
    text = json.dumps({**whole, "mcpServers": servers}, indent=2, ensure_ascii=False) + "\n"
    settings.save(file, text, "save the MCP servers")


def _named(name: str, entry: object, cwd: Path, project: Path | None) -> Named:
    try:
        return Named(name, read(name, entry, cwd, anywhere=project is None), project)
    except UsageError as error:
        return Named(name, None, project, str(error))
