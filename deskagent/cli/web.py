"""`deskagent web`: the app in a browser."""

from __future__ import annotations

import shlex
import sys
from typing import Any

import click

from deskagent.cli.going_on import named
from deskagent.cli.here import here
from deskagent.cli.run import talk_options
from deskagent.errors import UsageError

_HERE = ("127.0.0.1", "::1", "localhost")


@click.command(context_settings={"max_content_width": 100})
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="0: any that is free."
)
@click.option(
    "--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="An address of this machine."
)
@talk_options
@click.pass_context
def web(ctx: click.Context, port: int, host: str, **given: Any) -> int:
    """Open the app on this folder in a browser: it prints the address to open, which holds a secret.

    Each page that is open is a conversation of its own, and ends when it is closed or loaded anew; -c goes on with
    the latest one. From another machine, by ssh: ssh -L 8765:127.0.0.1:8765 MACHINE.
    """
    try:
        from deskagent.cli.browser import Browser, bound
    except ModuleNotFoundError as error:
        raise UsageError(
            f"The app in a browser needs {error.name}, which isn't installed.",
            hint="pip install 'deskagent[web]'",
        ) from error
    named(given["latest"], given["session"], given["fork"])
    here()
    at = bound(host, port)
    if host not in _HERE:
        click.echo(
            f"Warning: whoever can read what passes between a browser and {host} can take over this app: it is not "
            "encrypted.",
            err=True,
        )
    app = [sys.executable, "-P", "-m", "deskagent", "tui", *_options(ctx, given)]
    Browser(f"exec {shlex.join(app)}", at, lambda url: click.echo(f"Open {url}\nCtrl+C ends it.")).run()
    return 0


def _options(ctx: click.Context, given: dict[str, Any]) -> list[str]:
    """The options of a conversation as they were given, for the command that each page runs."""
    words: list[str] = []
    for parameter in ctx.command.params:
        value = given.get(parameter.name or "")
        if (
            not isinstance(parameter, click.Option)
            or value == parameter.get_default(ctx)
            or value in (None, ())
        ):
            continue
        for each in value if isinstance(value, tuple) else (value,):
            words += [parameter.opts[-1]] if parameter.is_flag else [f"{parameter.opts[-1]}={each}"]
    return words
