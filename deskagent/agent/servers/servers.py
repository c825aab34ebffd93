"""The tools that a conversation's MCP servers give it. A server is started when it is called, or to be approved."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from deskagent.agent.front import Question
from deskagent.agent.servers import approved
from deskagent.agent.servers.approved import Approval
from deskagent.agent.servers.named import Named, named
from deskagent.errors import DeskagentError
from deskagent.terminal.text import printable
from deskagent.tools.base import Tool
from deskagent.tools.mcp.connection import Connection
from deskagent.tools.mcp.spec import Described
from deskagent.tools.mcp.tool import tools

YES, NO = "yes", "no"
Choose = Callable[[Question, tuple[str, ...]], str]


class Servers:
    """warn: tells the person something. choose: puts a question to them, None where nobody answers."""

    def __init__(
        self, project: Path, *, trusted: bool, warn: Callable[[str], None], choose: Choose | None = None
    ) -> None:
        self._project, self._trusted, self._warn, self._choose = project, trusted, warn, choose
        self._connections: list[Connection] = []

    def tools(self) -> tuple[Tool[Any], ...]:
        """Of all servers that may be used. One that can't be is told of, and does no harm to the rest."""
        found: list[Tool[Any]] = []
        for server in named(self._project, trusted=self._trusted):
            try:
                found += self._of(server)
            except DeskagentError as error:
                self._warn(str(error))
        return tuple(found)

    def close(self) -> None:
        for connection in self._connections:
            connection.close()

    def _of(self, server: Named) -> list[Tool[Any]]:
        if server.spec is None:
            self._warn(f"An MCP server can't be used. {server.error}")
            return []
        connection = Connection(server.spec)
        self._connections.append(connection)
        approval = approved.find(server)
        if not approved.holds(server, approval):
            mine = server.project is None and not (approval and approval.changed)
            choose = (lambda question, choices: YES) if mine else self._choose
            if choose is None:
                self._warn(
                    f"The MCP server {server.name} isn't approved, or has changed since, so it isn't used: see "
                    f"`deskagent mcp approve {server.name}`."
                )
                return []
            approval = approve(server, connection, choose)
        return tools(connection, approval.tools, lambda: changed(server)) if approval else []


def changed(server: Named) -> None:
    """Keeps that a server says something else than it was approved for."""
    if approval := approved.find(server):
        approved.keep(server, replace(approval, changed=True))


def approve(server: Named, connection: Connection, choose: Choose) -> Approval | None:
    """Asks whether a server may be started, then whether its tools may be used. None: it may not.

    Errors: ServerError where it doesn't start, TransientError where the approval can't be kept.
    """
    spec = connection.spec
    before = approved.find(server)
    if before is None or before.fingerprint != spec.fingerprint:
        text = "Start this MCP server?" if before is None else "This MCP server has changed. Start it?"
        if choose(Question(text, spec.shown, f"mcp:{spec.fingerprint}"), (YES, NO)) != YES:
            return None
    found = connection.tools(threading.Event())
    known = {tool.name: tool.digest for tool in before.tools} if before else {}
    text = f"Let models use these {len(found)} tools of {server.name}?"
    digests = ":".join(tool.digest for tool in found)
    if choose(Question(text, _shown(found, known), f"mcp:{spec.fingerprint}:{digests}"), (YES, NO)) != YES:
        return None
    approval = Approval(spec.fingerprint, found)
    approved.keep(server, approval)
    return approval


def _shown(found: tuple[Described, ...], known: dict[str, str]) -> str:
    """What a server says of its tools, whole, and what of it is new."""
    lines = []
    for tool in found:
        note = "" if not known or known.get(tool.name) == tool.digest else " (new)"
        if note and tool.name in known:
            note = " (CHANGED since it was approved)"
        lines.append(f"{tool.name}{note}\n    " + tool.description.strip().replace("\n", "\n    "))
    return printable("\n".join(lines)) or "(none)"
