"""MCP servers in the settings of other agents, as ours have them: `command`, `args`, `env`, or `url`, `headers`.

Values that are secret stay where they are. In their place stands `${NAME}`, which is taken from the environment when
the server is started.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from deskagent.imports.found import Found, Server
from deskagent.imports.lines import mapping, strings, words
from deskagent.session.redact import redact

_FOREIGN = re.compile(r"\{env:(\w+)\}|\$(\w+)")
_REFERS = re.compile(r"(?:\w+ )?\$\{\w+(?::-[^}]*)?\}")
_NAME = re.compile(r"(?!.*__)[A-Za-z0-9][A-Za-z0-9_-]{0,30}")


def take(found: Found, given: Any) -> None:
    """Adds the servers of a table of them by name. What is none is said."""
    known = {server.name for server in found.servers}
    for name, raw in mapping(given).items():
        server = _server(name, mapping(raw)) if _NAME.fullmatch(name) else None
        if server is None:
            found.notes.append(f"The MCP server {name!r} is switched off, of another kind, or can't be read.")
        elif name not in known:
            found.servers.append(server)


def _server(name: str, raw: Mapping[str, Any]) -> Server | None:
    keys: list[str] = []
    command, args = words(raw.get("command")), strings(raw.get("args"))
    if line := strings(raw.get("command")):
        command, args = line[0], line[1:]
    settings: dict[str, Any] = {}
    if command:
        env = mapping(raw.get("env")) | mapping(raw.get("environment"))
        settings = {"command": command, "args": _args(args, name, keys)}
        settings["env"] = {key: _kept(key, value, key, keys) for key, value in env.items() if words(value)}
        settings["env"] |= {key: f"${{{key}}}" for key in strings(raw.get("env_vars"))}
    elif url := words(raw.get("url")):
        headers = mapping(raw.get("headers")) | mapping(raw.get("http_headers"))
        if "sse" in (raw.get("type"), raw.get("transport")):
            return None
        settings = {"type": "http", "url": _url(url, name, keys)}
        settings["headers"] = {
            key: _kept(key, value, _variable(name, key), keys)
            for key, value in headers.items()
            if words(value)
        }
        for key, variable in mapping(raw.get("env_http_headers")).items():
            settings["headers"][key] = f"${{{variable}}}"
        if token := words(raw.get("bearer_token_env_var")):
            settings["headers"]["Authorization"] = f"Bearer ${{{token}}}"
    if not settings or raw.get("enabled") is False or raw.get("disabled") is True:
        return None
    return Server(name, {key: value for key, value in settings.items() if value}, tuple(dict.fromkeys(keys)))


def _kept(key: str, value: str, variable: str, keys: list[str]) -> str:
    """The value, or a reference in its place where it is secret. A header of a scheme keeps the scheme."""
    value = _FOREIGN.sub(lambda found: f"${{{found[1] or found[2]}}}", value)
    if _REFERS.fullmatch(value):
        return value
    if redact({key: value})[key] == value and redact({"x": f"{key}={value}"})["x"] == f"{key}={value}":
        return value
    keys.append(variable)
    scheme, _, rest = value.partition(" ")
    return f"{scheme} ${{{variable}}}" if rest and scheme.isalpha() else f"${{{variable}}}"


def _args(args: list[str], name: str, keys: list[str]) -> list[str]:
    hidden = redact(args)
    return [_swap(arg, safe, _variable(name, "key"), keys) for arg, safe in zip(args, hidden, strict=True)]


def _url(url: str, name: str, keys: list[str]) -> str:
    return _swap(url, redact(url), _variable(name, "key"), keys)


def _swap(value: str, safe: str, variable: str, keys: list[str]) -> str:
    """`value` with what was taken out of `safe` as a reference."""
    if value == safe:
        return value
    keys.append(variable)
    return re.sub(r"\[redacted: [\w -]+\]", f"${{{variable}}}", safe)


def _variable(*names: str) -> str:
    return re.sub(r"\W", "_", "_".join(names)).upper()


def named(servers: Iterable[Server]) -> list[str]:
    """The names of all keys that stay behind."""
    return list(dict.fromkeys(key for server in servers for key in server.keys))
