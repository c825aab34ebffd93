"""`deskagent tui`, and `deskagent` alone: the app in the terminal."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from deskagent.cli.going_on import named
from deskagent.cli.here import here
from deskagent.cli.run import options_of, talk_options
from deskagent.errors import UsageError


@click.command(context_settings={"max_content_width": 100})
@talk_options
def tui(**given: Any) -> int:
    """Open the app on this folder: a conversation with a model that works in it, in the whole terminal.

    `deskagent` alone does the same. F1 shows the keys. With a screen reader: deskagent chat, which goes line by line.
    """
    served = "TEXTUAL_DRIVER" in os.environ  # by `deskagent web`, whose browser is the terminal
    if not served and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("The app needs a terminal.", hint='For a script: deskagent run "…"')
    from ui.start import start

    named(given["latest"], given["session"], given["fork"])
    here()
    code, session = start(lambda: options_of(given), lambda: _model(given["model"]))
    if session and not served:
        print(f"To go on: deskagent -r {session}")
    return code


def _model(name: str) -> None:
    """Errors: UsageError where no such model is set up."""
    from deskagent.providers import catalog

    catalog.read().find(name or os.environ.get("DESKAGENT_TALK_MODEL", ""))
