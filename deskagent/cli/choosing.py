"""Asking on a terminal which of a folder's sessions is meant."""

from __future__ import annotations

from pathlib import Path

import click

from deskagent.agent import which
from deskagent.agent.workspace import project_root
from deskagent.errors import UsageError
from deskagent.session.render import moment
from deskagent.terminal.text import printable

_SHOWN = 15


def choose_session(folder: Path) -> str:
    """The id of the session that the person picks, "" (the latest) where there is only one. UsageError."""
    project = project_root(folder)
    found = which.sessions_of(project)[:_SHOWN]
    if not found:
        raise UsageError(f"There is no session of {project} yet.")
    if len(found) == 1:
        return ""
    for number, summary in enumerate(found, 1):
        title = " ".join(printable(summary.title, newlines=False).split())[:60]
        status = printable(summary.status, newlines=False)
        click.echo(f"{number:>3}  {moment(summary.started):19}  {status:14}  {title}", err=True)
    picked = click.prompt("Which one", type=click.IntRange(1, len(found)), default=1, err=True)
    return found[picked - 1].id
