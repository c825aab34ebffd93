"""`deskagent sessions`: list, show, export and search what is on the disk."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import click
import msgspec

from deskagent.cli.here import here
from deskagent.errors import UsageError
from deskagent.session import away, index, store
from deskagent.session.export import FORMATS, export
from deskagent.session.files import storage_errors
from deskagent.session.journal import Journal
from deskagent.session.record import decode_payload
from deskagent.session.render import entry, moment
from deskagent.session.summary import Summary
from deskagent.terminal.text import printable

_TITLE = 70  # characters of a request in a list


@click.group()
def sessions() -> None:
    """List, show, export and search past sessions."""


@sessions.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
@click.option("--all", "everywhere", is_flag=True, help="Sessions of every folder, not of this one alone.")
def list_(as_json: bool, everywhere: bool) -> None:
    """List the sessions of this folder, the newest first."""
    found = index.sessions(None if everywhere else here())
    if as_json:
        click.echo(json.dumps([msgspec.to_builtins(summary) for summary in found], indent=2))
        return
    for summary in found:
        click.echo(_line(summary, with_folder=everywhere))
    if not found:
        where = "" if everywhere else " of this folder (all: --all)"
        click.echo(f"There are no sessions{where}.", err=True)


@sessions.command()
@click.argument("session", metavar="ID|last")
@click.option("--last", "count", type=click.IntRange(1), metavar="N", help="Only the last N events.")
def show(session: str, count: int | None) -> None:
    """Show what happened in a session."""
    with Journal.open(_find(session), write=False) as journal:
        for record in journal.tail(count) if count else journal.read():
            shown = entry(record.seq, decode_payload(record.payload))
            click.secho(printable(f"#{shown.seq}  {shown.when}  {shown.title}", newlines=False), bold=True)
            for name, text in shown.facts:
                click.echo(f"    {printable(f'{name}: {text}', newlines=False)}")
            for name, text in shown.blocks:
                click.echo(f"    {printable(name, newlines=False)}:")
                for line in printable(text).split("\n"):
                    click.echo(f"      │ {line}")
        for warning in journal.warnings:
            click.echo(f"warning: {printable(warning.text, newlines=False)}", err=True)


@sessions.command("export")
@click.argument("session", metavar="ID|last")
@click.option("--format", "kind", type=click.Choice(sorted(FORMATS)), default="md", show_default=True)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="A file to write, instead of stdout.")
def export_(session: str, kind: str, output: Path | None) -> None:
    """Export a session with its secrets taken out.

    Keys, tokens and passwords are recognised by their shape, by the name beside them, and by the values of
    this environment's secret variables. Read the export before you pass it on.
    """
    with Journal.open(_find(session), write=False) as journal:
        if output is None:
            for piece in export(journal, kind):
                click.echo(piece, nl=False)
            return
        with storage_errors("write the export", output):
            fd = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with os.fdopen(fd, "w", encoding="utf-8") as file:
                file.writelines(export(journal, kind))


@sessions.command()
@click.argument("query", nargs=-1, required=True)
@click.option("-n", "--limit", type=click.IntRange(1), default=50, show_default=True, help="At most so many.")
def search(query: tuple[str, ...], limit: int) -> None:
    """Search all sessions for events with all of these words."""
    hits = index.search(" ".join(query), limit)
    for hit in hits:
        excerpt = " ".join(printable(hit.excerpt, newlines=False).replace("␊", " ").split())
        click.echo(f"{hit.session.id}  #{hit.seq}  {excerpt}")
    if not hits:
        click.echo("Nothing found.", err=True)
        sys.exit(1)


@sessions.command("elsewhere")
@click.argument("url", required=False)
@click.option("--none", is_flag=True, help="Keep them on the disk from now on.")
def elsewhere(url: str | None, none: bool) -> None:
    """Say where finished segments of sessions go, or show it: an fsspec URL, such as s3://bucket/folder.

    They are sent at the end of each run, as they are, secrets too, and come back when they are read. Needs
    deskagent[remote], and for some kinds of URL a package of their own, which is named then.
    """
    if url or none:
        away.choose("" if none else url or "")
    click.echo(away.where() or "Sessions stay on the disk as a whole.")


@sessions.command("send")
@click.argument("session", metavar="ID|last")
def send(session: str) -> None:
    """Send a session's finished segments where `sessions elsewhere` says."""
    if not (url := away.where()):
        raise UsageError("Nobody said where to.", hint="deskagent sessions elsewhere URL")
    click.echo(f"Sent: {away.roll(_find(session), url)} segments.")


@sessions.command("fetch")
@click.argument("session", metavar="ID|last")
def fetch(session: str) -> None:
    """Bring a session's segments back to the disk."""
    click.echo(f"Brought back: {away.bring_back(_find(session))} segments.")


def _find(session: str) -> Path:
    """The folder of the session that is meant; `last` is this folder's newest, else the newest of all."""
    if session != "last":
        return store.find(session)
    newest = index.latest(here()) or next(iter(index.sessions()), None)
    if newest is None:
        raise UsageError("There are no sessions yet.")
    return store.find(newest.id)


def _line(summary: Summary, *, with_folder: bool) -> str:
    title = " ".join(printable(summary.title, newlines=False).replace("␊", " ").split())
    title = title if len(title) <= _TITLE else title[: _TITLE - 1] + "…"
    folder = f"  {printable(summary.cwd, newlines=False)}" if with_folder else ""
    status = printable(summary.status, newlines=False)
    return f"{summary.id}  {moment(summary.started) or '—':19}  {status:12}  {title}{folder}"
