"""`deskagent mcp`: which MCP servers there are, and which of them the person approves."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from deskagent.errors import UsageError


@click.group()
def mcp() -> None:
    """Tool servers: your own, and those that a project's .mcp.json names.

    A project's server is used after you trust the folder and approve what it runs. One that changes, or that describes
    its tools otherwise, has to be approved anew.
    """


def _pairs(given: tuple[str, ...], sign: str, what: str) -> dict[str, str]:
    found = {}
    for each in given:
        name, there, value = each.partition(sign)
        if not there or not name.strip():
            raise UsageError(f"{each!r} is no {what}.", hint=f"One is NAME{sign}VALUE.")
        found[name.strip()] = value.strip() if sign == ":" else value
    return found


def _here() -> Path:
    from deskagent.agent.workspace import project_root
    from deskagent.cli.here import here

    return project_root(here())


def _file(scope: str) -> Path:
    from deskagent.agent.servers import named

    return _here() / named.FILE if scope == "project" else named.own_file()


_SCOPE = click.option(
    "-s", "--scope", type=click.Choice(["user", "project"]), default="user", show_default=True,
    help="user: with your settings. project: in .mcp.json, for all who work on it.",
)  # fmt: skip


_OPTIONS = {"-e": "env", "--env": "env", "-H": "header", "--header": "header"}
"""Those that may also stand behind the name, as other agents' users write them."""


def _taken(words: tuple[str, ...]) -> tuple[list[str], dict[str, list[str]]]:
    """The command or URL with what belongs to it, and the options among the words. After `--`, or a command, nothing is
    an option of ours."""
    left, found = list(words), {"env": [], "header": []}
    rest: list[str] = []
    while left:
        word = left.pop(0)
        if word in _OPTIONS and left:
            found[_OPTIONS[word]].append(left.pop(0))
        elif word == "--" or not word.startswith(("http://", "https://")):
            rest += left if word == "--" else [word, *left]
            break
        else:
            rest.append(word)
    return rest, found


@mcp.command("add", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@_SCOPE
@click.option(
    "-t", "--transport", type=click.Choice(["stdio", "http"]), default=None, help="Default: by the URL."
)
@click.option("-e", "--env", multiple=True, metavar="NAME=VALUE", help="For a command.")
@click.option("-H", "--header", multiple=True, metavar="NAME:VALUE", help="For a URL.")
@click.argument("name")
@click.argument("command_or_url", nargs=-1, required=True, type=click.UNPROCESSED)
def add(
    scope: str,
    transport: str | None,
    env: tuple[str, ...],
    header: tuple[str, ...],
    name: str,
    command_or_url: tuple[str, ...],
) -> int:
    """Add a server: deskagent mcp add NAME COMMAND [ARGS]…, or NAME URL.

    ${NAME} in it is filled in from the environment when it is used: so no key has to stand in a file.
    """
    from deskagent.agent.servers import named
    from deskagent.tools.mcp.spec import read

    words, more = _taken(command_or_url)
    variables = _pairs((*env, *more["env"]), "=", "variable")
    headers = _pairs((*header, *more["header"]), ":", "header")
    if not words:
        raise UsageError("Which command or URL?", hint="deskagent mcp add NAME COMMAND [ARGS]…")
    http = transport == "http" or (transport is None and words[0].startswith(("http://", "https://")))
    entry: dict[str, Any]
    if http:
        entry = {"type": "http", "url": words[0], "headers": headers}
        if words[1:] or variables:
            raise UsageError("A URL takes no arguments and no --env.")
    else:
        entry = {"command": words[0], "args": words[1:], "env": variables}
        if headers:
            raise UsageError("A command takes no --header.")
    try:
        read(name, entry, _here())
    except UsageError as error:
        if "needs the variable" not in error.message:
            raise
    servers = named.entries(_file(scope))
    if name in servers:
        raise UsageError(f"There is an MCP server {name} already.", hint=f"deskagent mcp remove {name}")
    named.write(_file(scope), {**servers, name: entry})
    click.echo(f"Added {name} to {_file(scope)}.")
    if scope == "project":
        click.echo(f"To use it: deskagent trust, then deskagent mcp approve {name}.")
    return 0


@mcp.command("remove")
@_SCOPE
@click.argument("name")
def remove(scope: str, name: str) -> int:
    """Remove a server, and forget that it was approved."""
    from deskagent.agent.servers import approved, named

    servers = named.entries(_file(scope))
    if name not in servers:
        raise UsageError(f"There is no MCP server {name} in {_file(scope)}.", hint="See deskagent mcp list.")
    del servers[name]
    named.write(_file(scope), servers)
    approved.keep(named.Named(name, None, _here() if scope == "project" else None), None)
    click.echo(f"Removed {name} from {_file(scope)}.")
    return 0


@mcp.command("list")
def list_() -> int:
    """List the servers and what stands in their way. None is started."""
    from deskagent.agent.permissions import is_trusted
    from deskagent.agent.servers import approved, named
    from deskagent.terminal.text import printable

    project = _here()
    trusted = is_trusted(project)
    for server in named.named(project, trusted=trusted):
        approval = approved.find(server)
        if server.spec is None:
            state = f"can't be used: {server.error}"
        elif approved.holds(server, approval):
            state = f"approved, {len(approval.tools) if approval else 0} tools"
        elif approval is not None:
            state = "CHANGED since it was approved: deskagent mcp approve " + server.name
        elif server.project:
            state = "not approved: deskagent mcp approve " + server.name
        else:
            state = "yours, not used yet"
        what = server.spec.where if server.spec else ""
        whose = "project" if server.project else "user"
        click.echo(printable(f"{server.name}  ({whose})  {what}\n    {state}"))
    if not trusted and (project / named.FILE).exists():
        click.echo(f"{named.FILE} of this folder isn't read: the folder isn't trusted (deskagent trust).")
    return 0


@mcp.command("approve")
@click.argument("name")
@click.option("-y", "--yes", is_flag=True, help="Approve without being asked.")
def approve(name: str, yes: bool) -> int:
    """Look at what a server runs and says of its tools, and approve it."""
    from deskagent.agent.front import Question
    from deskagent.agent.permissions import is_trusted
    from deskagent.agent.servers import named, servers
    from deskagent.terminal.text import printable
    from deskagent.tools.mcp.connection import Connection

    project = _here()
    trusted = is_trusted(project)
    found = next((each for each in named.named(project, trusted=trusted) if each.name == name), None)
    if found is None:
        hint = (
            "See deskagent mcp list."
            if trusted
            else "This folder isn't trusted, so its .mcp.json isn't read."
        )
        raise UsageError(f"There is no MCP server {name}.", hint=hint)
    if found.spec is None:
        raise UsageError(found.error)
    if not yes and not sys.stdin.isatty():
        raise UsageError("Nobody can be asked here.", hint="Say --yes if you know what it runs.")

    def choose(question: Question, choices: tuple[str, ...]) -> str:
        click.echo(question.subject)  # inert already
        return servers.YES if yes or click.confirm(printable(question.text)) else servers.NO

    connection = Connection(found.spec)
    try:
        approval = servers.approve(found, connection, choose)
    finally:
        connection.close()
    click.echo(f"Approved: {name}, {len(approval.tools)} tools." if approval else f"Not approved: {name}.")
    return 0 if approval else 1
