"""Looks at what changed, before and after, and tells what is wrong now that wasn't: within a time, or not at all."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from deskagent.errors import DeskagentError
from deskagent.repair.source import SourceError, SourceFile
from deskagent.terminal.types import Command, Rung
from deskagent.tools.base import Changes, Context
from deskagent.tools.diagnose import ruff
from deskagent.tools.diagnose.found import Problem, new, told
from deskagent.tools.diagnose.programs import SERVERS, Speaks, search_path
from deskagent.tools.diagnose.server import Server

SECONDS = 10.0
"""That a change may wait for all that look at it."""
_FILES = 5
_HEAD = "New problems after this change:"


@dataclass
class Looker:
    """trusted: whether the project's own tools and configuration may be used; they run in the sandbox, and where there
    is none they don't. seconds: see SECONDS."""

    project: Path
    trusted: Callable[[], bool]
    seconds: float = SECONDS
    _servers: dict[tuple[str, ...], Server | None] = field(default_factory=dict)

    def look(self, changes: Changes, context: Context) -> str:
        """The new problems in words; "" where there are none, or nothing can tell."""
        try:
            return self._looked(changes, context)
        except (DeskagentError, OSError) as error:  # the change itself is made, and on record
            return f"(What is wrong after it couldn't be looked at: {error})"

    def _looked(self, changes: Changes, context: Context) -> str:
        until = time.monotonic() + self.seconds
        trusted = self.trusted() and context.sandbox.rung is not Rung.NONE
        found = [
            self._file(path, before, after, context, until, trusted)
            for path, (before, after) in list(changes.items())[:_FILES]
            if after is not None
        ]
        lines = [each for each in found if each]
        return "\n".join([_HEAD, *lines]) if lines else ""

    def close(self) -> None:
        for server in self._servers.values():
            if server is not None:
                server.close()

    def _file(
        self, path: str, before: bytes | None, after: bytes, context: Context, until: float, trusted: bool
    ) -> str:
        ending = PurePosixPath(path).suffix
        try:
            old, text = (SourceFile.from_bytes(path, raw).text for raw in (before or b"", after))
        except SourceError:
            return ""

        def by(check: Callable[[bytes, str], list[Problem] | None]) -> list[Problem]:
            """The new ones that a check finds."""
            first = check(before or b"", old)
            last = check(after, text) if first is not None else None
            return new(first or [], last, old, text) if last is not None else []

        found: list[Problem] = []
        if ending in ruff.ENDINGS:
            found += by(
                lambda raw, _: ruff.check(
                    path, raw, context, trusted=trusted, seconds=max(0.1, until - time.monotonic())
                )
            )
        server = self._server(ending, context) if trusted and ending in SERVERS else None
        if server is not None and not context.cancel.is_set():
            uri = (self.project / path).as_uri()
            found += by(lambda _, words: server.check(uri, words, until))
        return told(path, found)

    def _server(self, ending: str, context: Context) -> Server | None:
        """The server for such files, started at the first of them."""
        where = search_path(self.project, context.env, trusted=True)
        for speaks in SERVERS[ending]:
            if speaks.argv not in self._servers:
                self._servers[speaks.argv] = self._started(speaks, where, context)
            if (server := self._servers[speaks.argv]) is not None:
                return server
        return None

    def _started(self, speaks: Speaks, where: str, context: Context) -> Server | None:
        program = shutil.which(speaks.argv[0], path=where)
        if program is None:
            return None
        command = Command((program, *speaks.argv[1:]), self.project, {**context.env, "PATH": where})
        seen = (*context.policy.readable, self.project)
        return Server(speaks, command, context.sandbox, replace(context.policy, writable=(), readable=seen))


def wanted(environment: os._Environ[str] | dict[str, str] = os.environ) -> bool:
    """Whether the person hasn't switched it off: DESKAGENT_DIAGNOSTICS=off."""
    return environment.get("DESKAGENT_DIAGNOSTICS", "").strip().lower() not in ("off", "0", "no", "false")
