"""`deskagent verify`: runs a session's proof again, on clean copies of the project as it was then."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from deskagent.agent.permissions import Mode
from deskagent.terminal.text import printable

_SHOWN = 5
_SAYS = {
    "holds": "The claim holds.",
    "fails": "The claim does not hold.",
    "unknown": "The claim can't be checked.",
}


@click.command()
@click.argument("session", metavar="[SESSION]", default="")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option(
    "--permission-mode",
    type=click.Choice([str(Mode.ASK), str(Mode.AUTO), str(Mode.FULL)]),
    default=str(Mode.ASK),
    show_default=True,
    help="ask: before a detected command. auto: no questions inside the sandbox. full: no sandbox.",
)
def verify(session: str, output_format: str, permission_mode: str) -> int:
    """Replay the tests before and after SESSION's patch, and compare with what it claimed.

    Each side runs on a clean copy of the project as the session found it, rebuilt from the session itself and
    git's objects, also when the project has moved on since. SESSION is an id or its beginning; without it, the
    latest of this folder. Exit codes: 0 the claim holds, 1 it doesn't, 2 it can't be replayed.
    """
    from deskagent.agent import replay
    from deskagent.agent.signals import Stopped, signals_raise
    from deskagent.agent.workspace import project_root
    from deskagent.cli.asking import Asking
    from deskagent.cli.here import here
    from deskagent.cli.live import write_json

    folder = project_root(here()) if session in ("", "last") else Path()
    front = Asking(interactive=sys.stdin.isatty() and sys.stderr.isatty())
    try:
        with signals_raise():
            found = replay.replay(
                replay.find(session, folder), front, env=dict(os.environ), mode=Mode(permission_mode)
            )
    except Stopped as stop:
        return stop.exit_code
    result = found.result()
    if output_format == "json":
        write_json(result)
    else:
        click.echo(printable("\n".join(_lines(result))))
    return result["exit_code"]


def _lines(result: dict[str, Any]) -> list[str]:
    lines = [f"Session {result['session_id']}, `{result['command']}`, each on a clean copy:"]
    for name in ("before", "after"):
        side = result.get(name)
        if side:
            why = f" ({side['why']})" if side["why"] else ""
            lines.append(f"  {name:6}  claimed  {side['claimed']}")
            lines.append(f"  {'':6}  now      {side['seen']['summary']}: {side['state']}{why}")
    if "after" not in result:
        lines.append("  It found no patch: only what the tests said is replayed.")
    if result["moved"]:
        lines.append(f"The project has moved on since: {_some(result['moved'])}.")
    if result["lost"]:
        lines.append(f"Not kept by the session and not to be had again: {_some(result['lost'])}.")
    return [*lines, *result["notes"], _SAYS[result["status"]]]


def _some(paths: list[str]) -> str:
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return f"{', '.join(paths[:_SHOWN])}{more}"
