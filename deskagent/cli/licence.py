"""The licence notice: a checkpoint under a licence of its own shows it and asks once, before its first use."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from deskagent import licences
from deskagent.errors import UsageError
from deskagent.terminal.text import printable

_LINES = 200  # of a licence that are shown


def agree(folder: Path, *, accepted: bool) -> str | None:
    """Returns when the person has agreed, now or before. `accepted`: said so on the command line. Gives what the
    engine's process takes as `--agreed`; None where the checkpoint has no licence of its own.

    Errors: UsageError where nobody can be asked, or the answer is no.
    """
    from engine.weights.card import fingerprint, licence_of

    licence = licence_of(folder)
    if licence is None:
        return None
    digest = fingerprint(folder, licence)
    if licences.is_agreed(digest):
        return digest
    name = printable(licence.name, newlines=False)
    where = printable(licence.link, newlines=False)
    click.echo(
        f"The checkpoint {folder} is under a licence of its own: {name}{f' ({where})' if where else ''}",
        err=True,
    )
    for line in _shown(licence.text, folder):
        click.echo(f"  │ {line}", err=True)
    if not accepted:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise UsageError(
                f"The licence {name} has to be agreed to before {folder} is used.",
                hint="Read it, then run the command again with --accept-license.",
            )
        if not click.confirm("Do you agree to it?", default=False, err=True):
            raise UsageError(f"{folder} was not used: its licence was not agreed to.")
    licences.remember(digest, licence.name, folder.resolve())
    return digest


def agree_again(folder: Path) -> None:
    """The same licence once more, for what came beside it since it was agreed to."""
    from engine.weights.card import fingerprint, licence_of

    if (licence := licence_of(folder)) is not None:
        licences.remember(fingerprint(folder, licence), licence.name, folder.resolve())


def _shown(text: str, folder: Path) -> list[str]:
    lines = [printable(line, newlines=False) for line in text.splitlines()]
    left = len(lines) - _LINES
    return lines if left <= 0 else [*lines[:_LINES], f"… {left} more lines in {folder}"]
