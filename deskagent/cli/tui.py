"""`deskagent tui`, and `deskagent` alone: the app in the terminal."""

from __future__ import annotations

import sys
from typing import Any

import click

from deskagent.cli.run import options_of, talk_options
from deskagent.errors import UsageError


@click.command(context_settings={"max_content_width": 100})
@talk_options
def tui(**given: Any) -> int:
    """Open the app on this folder: a conversation with a model that works in it, in the whole terminal.

    `deskagent` alone does the same. F1 shows the keys. With a screen reader: deskagent chat, which goes line by line.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("The app needs a terminal.", hint='For a script: deskagent run "…"')
    options = options_of(given)
    from deskagent.providers import catalog
    from ui.start import start

    code, session = start(options, lambda: catalog.read().find(options.named))
    if session:
        print(f"To go on: deskagent -r {session}")
    return code
