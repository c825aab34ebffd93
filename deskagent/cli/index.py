"""`deskagent index`: builds the index of a project, says what it holds, asks it, draws its map."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from deskagent.errors import TransientError
from deskagent.repo import background, git, store
from deskagent.repo.index import Index, State, open_index
from deskagent.terminal.text import printable

_PATIENCE = 1.0  # seconds that a query spends on what changed since
_project = click.argument(
    "project", type=click.Path(exists=True, file_okay=False, path_type=Path), default="."
)


@click.group()
def index() -> None:
    """The index of a project: definitions, references, callers, text and a map."""


@index.command()
@_project
@click.option("--background", "behind", is_flag=True, help="Start it and return at once.")
@click.option("--watch", is_flag=True, help="Then follow the project until Ctrl-C.")
def build(project: Path, behind: bool, watch: bool) -> None:
    """Bring the index of PROJECT (default: this folder's repository) up to date."""
    root = _root(project)
    if behind:
        started = background.start(root)
        click.echo("The index is being built in the background." if started else "It is being built already.")
        return
    with open_index(root) as opened:
        outcome = opened.refresh(progress=_progress)
        click.echo(
            f"{outcome.files} files, {outcome.changed} read, {outcome.removed} gone, {outcome.seconds:.1f} s."
        )
    if watch:
        _follow(root)


def _progress(done: int, total: int) -> None:
    if total > 200:
        click.echo(f"{done} of {total} files", err=True)


def _follow(root: Path) -> None:
    from deskagent.repo.watch import Follower

    try:
        follower = Follower(root)
    except OSError as error:
        raise TransientError(
            f"{root} can't be followed: {error.strerror or error}.",
            hint="Raise fs.inotify.max_user_watches, or run `deskagent index build` when something changed.",
        ) from error
    with follower:
        click.echo("Following; Ctrl-C ends.")
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            return


@index.command()
@_project
def status(project: Path) -> None:
    """Say what the index of PROJECT holds, and what it leaves out."""
    with open_index(_root(project)) as opened:
        found = opened.status()
    state = f"{found.state}, being updated now" if found.updating else str(found.state)
    hint = "; `deskagent index build` makes it" if found.state is State.ABSENT else ""
    click.echo(f"state        {state}{hint}")
    click.echo(f"files        {found.files} of {found.listed}" + (" (there are more)" if found.cut else ""))
    click.echo(f"definitions  {found.definitions}")
    for language, count in found.languages.items():
        click.echo(f"  {language or 'plain text':<10} {count}")
    for reason, count in found.skipped.items():
        click.echo(f"passed over  {count}: {printable(reason)}")
    if found.garbled:
        click.echo(f"no symbols   {found.garbled}: could not be parsed at a bearable cost")
    for wheel in found.missing:
        click.echo(f"missing      {wheel}: its files are found by text alone (pip install {wheel})")
    click.echo(f"on disk      {found.bytes / 1e6:.1f} MB in {found.folder}")


def _definitions(opened: Index, term: str, limit: int) -> list[str]:
    return [f"{d.path}:{d.line}: {d.kind} {d.qualified}  {d.signature}" for d in opened.find(term)[:limit]]


def _references(opened: Index, term: str, limit: int) -> list[str]:
    return [
        f"{r.path}:{r.line}: {'call' if r.call else 'mention'}"
        + (f" in {r.inside.qualified}" if r.inside else "")
        for r in opened.references(term)[:limit]
    ]


def _callers(opened: Index, term: str, limit: int) -> list[str]:
    return [
        f"{c.definition.path}:{c.lines[0]}: {c.definition.qualified} calls it at {', '.join(map(str, c.lines))}"
        for c in opened.callers(term)[:limit]
    ]


def _text(opened: Index, term: str, limit: int) -> list[str]:
    return [f"{found.path}:{found.line}: {found.text.strip()}" for found in opened.search_text(term, limit)]


def _names(opened: Index, term: str, limit: int) -> list[str]:
    return opened.search_identifiers(term, limit)


def _similar(opened: Index, term: str, limit: int) -> list[str]:
    return [f"{d.path}:{d.line}: {d.kind} {d.qualified}" for d in opened.similar_definitions(term, limit)]


_ASK: dict[str, Callable[[Index, str, int], list[str]]] = {
    "definition": _definitions,
    "reference": _references,
    "caller": _callers,
    "text": _text,
    "name": _names,
    "similar": _similar,
}


@index.command()
@click.argument("term")
@_project
@click.option(
    "-k",
    "--kind",
    type=click.Choice(list(_ASK)),
    default="definition",
    show_default=True,
    help="definition, reference, caller: where a name is defined, stands, is called from; text: lines that hold all"
    " words; name: identifiers with TERM in them; similar: definitions whose names are alike.",
)
@click.option("-n", "--limit", type=click.IntRange(1), default=50, show_default=True, help="Lines at most.")
@click.pass_context
def query(ctx: click.Context, term: str, project: Path, kind: str, limit: int) -> None:
    """Ask the index of PROJECT for TERM. Exit status 1 if nothing is found."""
    with _asked(project) as opened:
        lines = _ASK[kind](opened, term, limit)
    for line in lines:
        click.echo(printable(line))
    if not lines:
        click.echo(f"Nothing found: {kind} {printable(term)}", err=True)
        ctx.exit(1)


@index.command("map")
@_project
@click.option("-t", "--tokens", type=click.IntRange(1), default=1000, show_default=True, help="Budget.")
@click.option("-f", "--focus", multiple=True, help="A name or path of interest; may be repeated.")
def map_(project: Path, tokens: int, focus: tuple[str, ...]) -> None:
    """Show the most important files and signatures of PROJECT that fit the budget."""
    with _asked(project) as opened:
        text = opened.map(tokens, focus)
    for line in text.splitlines():
        click.echo(printable(line))


def _root(project: Path) -> Path:
    """The repository around a folder, or the folder itself."""
    return git.root(project) or project.resolve()


@contextmanager
def _asked(project: Path) -> Iterator[Index]:
    """The index, as far up to date as a moment allows; what is missing is told and built in the background."""
    root = _root(project)
    with open_index(root) as opened:
        try:
            finished = opened.refresh(seconds=_PATIENCE).finished
        except store.Locked:
            finished = opened.status().state is State.READY
            note = "being updated by another process"
        except TransientError as error:
            finished, note = False, printable(error.message)
        else:
            note = "being built in the background"
            if not finished:
                opened.close()
                background.start(root)
        if not finished:
            found = opened.status()
            click.echo(f"The index is {note}: {found.files} of {found.listed} files so far.", err=True)
        yield opened
