"""`deskagent trust`: the person says which folders may have their detected commands run in the sandbox."""

from __future__ import annotations

from pathlib import Path

import click

from deskagent.agent import permissions
from deskagent.terminal.text import printable


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path), default=".")
@click.option("--remove", is_flag=True, help="Trust the folder no longer.")
@click.option("--list", "show", is_flag=True, help="List the trusted folders.")
def trust(folder: Path, remove: bool, show: bool) -> None:
    """Trust FOLDER (default: this one), so that its detected test command runs in the sandbox unasked.

    What it tells a model counts then, too: AGENTS.md, and .agents with skills, commands and kinds of subagents. Its MCP
    servers are asked for one by one.
    """
    if show:
        for known in permissions.trusted_folders():
            click.echo(printable(known, newlines=False))
        return
    permissions.trust(folder, on=not remove)
    where = printable(str(folder.resolve()), newlines=False)
    click.echo(f"{'No longer trusted' if remove else 'Trusted'}: {where}")
