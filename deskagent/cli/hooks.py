"""`deskagent hooks`: which commands run at which moments of a conversation, and which of a project's are approved."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deskagent.errors import UsageError
from deskagent.terminal.text import printable

if TYPE_CHECKING:
    from deskagent.agent.hooks.named import Hook


@click.group()
def hooks() -> None:
    """Commands at moments of a conversation: yours, and those that a project's .agents/hooks.json names.

    A project's run after you trust the folder and approve them as they are. One that changes has to be approved anew.
    They run in the sandbox of the conversation, get JSON on stdin, and hold things up by exit code 2.
    """


@hooks.command("list")
def list_() -> int:
    """List the hooks, and whether they run."""
    from deskagent.agent.hooks import approved, named

    project, found, trusted = _found()
    for hook in found:
        whose = "user" if hook.project is None else "project"
        state = "runs" if approved.holds(hook) else "NOT APPROVED: deskagent hooks approve"
        click.echo(f"{_line(hook)}  ({whose}) {state}")
    if not found:
        click.echo(f"There are no hooks. Yours would be in {named.own_file()}.", err=True)
    if not trusted and (project / named.PROJECT / named.FILE).exists():
        click.echo(
            f"{named.PROJECT}/{named.FILE} of this folder isn't read: the folder isn't trusted (deskagent trust)."
        )
    return 0


@hooks.command("approve")
@click.option("-y", "--yes", is_flag=True, help="Approve without being asked.")
def approve(yes: bool) -> int:
    """Look at what the project's hooks run, and approve all of them as they are."""
    from deskagent.agent.hooks import approved

    project, found, trusted = _found()
    if not trusted:
        raise UsageError("This folder isn't trusted, so its hooks aren't read.", hint="deskagent trust")
    theirs = [hook for hook in found if hook.project is not None]
    for hook in theirs:
        click.echo(f"{_line(hook)}{'' if approved.holds(hook) else '  (new or changed)'}")
    if not theirs:
        approved.keep(project, ())
        click.echo("This project has no hooks.")
        return 0
    if not yes and not sys.stdin.isatty():
        raise UsageError("Nobody can be asked here.", hint="Say --yes if you know what they run.")
    if not yes and not click.confirm("Let these run in the sandbox of conversations here?", default=False):
        return 1
    approved.keep(project, theirs)
    click.echo(f"Approved: {len(theirs)}.")
    return 0


@hooks.command("forget")
def forget() -> int:
    """Approve none of this project's hooks any longer."""
    from deskagent.agent.hooks import approved

    project, _, _ = _found()
    approved.keep(project, ())
    click.echo("None of this project's hooks is approved.")
    return 0


def _found() -> tuple[Path, list[Hook], bool]:
    """The project, its hooks and the person's, and whether it is trusted."""
    from deskagent.agent.hooks import named
    from deskagent.agent.permissions import is_trusted
    from deskagent.agent.workspace import project_root
    from deskagent.cli.here import here

    project = project_root(here())
    trusted = is_trusted(project)
    found = named.named(project, trusted=trusted, warn=lambda text: click.echo(printable(text), err=True))
    return project, found, trusted


def _line(hook: Hook) -> str:
    matcher = f" [{hook.matcher}]" if hook.matcher not in ("", "*") else ""
    return printable(f"{hook.on}{matcher}: {hook.command}  ({hook.seconds:g} s at most)", newlines=False)
