"""An MCP server as settings name it, what it really is once variables are filled in, and what it says of its tools."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deskagent.errors import UsageError
from deskagent.terminal.text import printable

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,30}")
_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_HTTP = ("http", "streamable-http", "streamable_http")
_SECRET = 6
"""Characters from which on a value may be a secret; shorter ones are in every text."""
CALL = 300.0
"""Seconds that a call may take, where the settings say nothing."""


@dataclass(frozen=True, slots=True)
class Spec:
    """command, args, env: of a process. url, headers: of a service. cwd: where a process runs. seconds: of a call.
    written: the settings as written. filled: variables of our environment that stand in it now. anywhere: it is
    the same server in every folder."""

    name: str
    cwd: Path
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = CALL
    written: str = ""
    filled: Mapping[str, str] = field(default_factory=dict, repr=False)
    anywhere: bool = False

    @property
    def fingerprint(self) -> str:
        """Of all that decides what really runs, or is really talked to."""
        real = [self.command, self.args, sorted(self.env.items()), self.url, sorted(self.headers.items())]
        return hashlib.sha256(
            json.dumps([*real, "" if self.anywhere else str(self.cwd)]).encode()
        ).hexdigest()

    @property
    def where(self) -> str:
        """Its command line or address, as written."""
        entry = json.loads(self.written)
        return str(entry.get("url") or " ".join(map(str, [entry["command"], *entry.get("args", [])])))

    def told(self, text: str) -> str:
        """`text` with the names of variables in place of what was filled in: a key isn't told to a model."""
        for name, value in self.filled.items():
            if len(value) >= _SECRET:
                text = text.replace(value, f"${{{name}}}")
        return text

    @property
    def shown(self) -> str:
        """For the person: whole, as written, so that no secret that is filled in is printed."""
        told = [
            f"MCP server {self.name}, in {self.cwd}:" if self.command else f"MCP server {self.name}:",
            self.written,
        ]
        if self.filled:
            told.append(f"It is given these variables of your environment: {', '.join(self.filled)}.")
        if self.command:
            told.append("It runs outside of the sandbox.")
        return printable("\n".join(told))


@dataclass(frozen=True, slots=True)
class Described:
    """A tool in its server's words. schema: of its arguments."""

    name: str
    description: str
    schema: Mapping[str, Any]

    @property
    def digest(self) -> str:
        return hashlib.sha256(
            json.dumps([self.name, self.description, self.schema], sort_keys=True).encode()
        ).hexdigest()


def read(name: str, entry: object, cwd: Path, *, anywhere: bool = False) -> Spec:
    """A server's entry in the form of Claude Code's `.mcp.json`. Errors: UsageError."""
    if not _NAME.fullmatch(name) or "__" in name:
        raise UsageError(
            f"{name!r} is no name of an MCP server.", hint="Letters, digits, - and single _, up to 31."
        )
    if not isinstance(entry, Mapping):
        raise UsageError(f"The MCP server {name} has to be a table.")
    command, url, kind = entry.get("command", ""), entry.get("url", ""), entry.get("type", "")
    args, env, headers = entry.get("args", []), entry.get("env", {}), entry.get("headers", {})
    plain = isinstance(command, str) and isinstance(url, str) and isinstance(args, list)
    if (
        not plain
        or not isinstance(env, Mapping)
        or not isinstance(headers, Mapping)
        or bool(command) == bool(url)
    ):
        raise UsageError(
            f"The MCP server {name} needs either a command (with args, env) or a url (with headers)."
        )
    if kind == "sse" or (url and kind and kind not in _HTTP):
        raise UsageError(f"The MCP server {name} is of type {kind!r}; there are stdio and http.")
    filled: dict[str, str] = {}

    def fill(text: object) -> str:
        def value(found: re.Match[str]) -> str:
            known = os.environ.get(found[1], found[2])
            if known is None:
                raise UsageError(
                    f"The MCP server {name} needs the variable {found[1]}.", hint="Set it, then try again."
                )
            if found[1] in os.environ:
                filled[found[1]] = known
            return known

        return _VARIABLE.sub(value, str(text))

    address = fill(url)
    if url and not re.match(r"https?://[^/?#@]+(?:[/?#]|$)", address):
        raise UsageError(
            f"The url of the MCP server {name} has to begin with http:// or https:// and a host.",
            hint='A user or a key belongs into headers: "Authorization": "Bearer ${MY_TOKEN}".',
        )
    timeout = entry.get("timeout")
    return Spec(
        name,
        cwd,
        fill(command),
        tuple(map(fill, args)),
        {str(key): fill(each) for key, each in env.items()},
        address,
        {str(key): fill(each) for key, each in headers.items()},
        timeout / 1000 if isinstance(timeout, int | float) and timeout > 0 else CALL,
        json.dumps(dict(entry), indent=2, ensure_ascii=False),
        filled,
        anywhere,
    )
