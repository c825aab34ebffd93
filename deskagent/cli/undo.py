"""`deskagent undo`: takes back what a session changed, for every kind of file, tracked by git or not."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from deskagent.terminal.text import printable


@click.command()
@click.argument("session", metavar="[SESSION]", default="")
@click.option("--step", default="", metavar="ID", help="Take back one step alone; an undo is a step, too.")
@click.option("-y", "--yes", is_flag=True, help="Don't ask.")
@click.option(
    "--output-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="json: the result alone.",
)
def undo(session: str, step: str, yes: bool, output_format: str) -> int:
    """Bring files back to what they were before SESSION changed them.

    SESSION is an id or its beginning; without it, the latest session of this folder whose changes hold. Files that
    somebody changed since are not touched: then nothing is, and each difference is shown. An undo can be undone
    (--step). Exit codes: 0 done, 2 it can't be done, 75 try again later.
    """
    from deskagent.agent import undo as work
    from deskagent.agent.signals import Stopped, signals_raise
    from deskagent.agent.workspace import project_root
    from deskagent.cli.asking import Asking
    from deskagent.cli.here import here
    from deskagent.cli.live import write_json

    folder = project_root(here()) if session in ("", "last") else Path()
    front = Asking(interactive=sys.stdin.isatty() and sys.stderr.isatty() and not yes)
    try:
        with signals_raise():
            result, code = work.run_undo(work.find(session, folder), front, step=step, argv=tuple(sys.argv))
    except Stopped as stop:
        return stop.exit_code
    if output_format == "json":
        write_json(result)
    else:
        click.echo(printable("\n".join(_lines(result))))
    return code


def _lines(result: dict[str, Any]) -> list[str]:
    if result["status"] == "declined":
        return ["Nothing was changed."]
    lines = [*result["notices"]]
    if result["files"]:
        lines += ["Taken back:", result["diff"].rstrip("\n"), ""]
    if result["already"]:
        lines.append(f"As before already: {', '.join(result['already'])}.")
    if result["note"]:
        lines.append(f"Done, but {result['note']}")
    if result["step"]:
        lines.append(f"To bring it back: deskagent undo {result['session_id']} --step {result['step']}")
    return lines
