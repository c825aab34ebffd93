"""`deskagent doctor`: what this machine offers, found by trying, and what to do where something is missing."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

import click

from deskagent import __version__, paths
from deskagent.errors import DeskagentError

_LEAST_FREE = 1 << 30


@dataclass(frozen=True)
class Finding:
    """One thing looked at. `state`: "ok", "warning" (works, with less) or "bad" (something will fail)."""

    name: str
    state: str
    found: str
    todo: str = ""


def _python() -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding("Python", "ok", f"{version}, {sys.executable}")


def _sandbox() -> Iterator[Finding]:
    from deskagent.terminal.sandbox import probe

    for rung in probe().rungs:
        state = "ok" if rung.works else "warning"
        yield Finding(f"Sandbox {rung.rung}", state, rung.found, rung.todo)
    if not any(rung.works for rung in probe().rungs):
        yield Finding(
            "Sandbox", "bad", "no rung works: commands run only where you allow each", "See docs/sandbox.md."
        )


def _git() -> Iterator[Finding]:
    from deskagent.repo import git

    if git.is_installed():
        yield Finding("git", "ok", shutil.which("git") or "")
    else:
        yield Finding(
            "git", "warning", "not found", "Install git; without it folders are searched as they are."
        )


def _disk() -> Iterator[Finding]:
    for name, folder, place in (
        ("Sessions", paths.data_dir(), "DESKAGENT_HOME"),
        ("Scratch", None, "TMPDIR"),
    ):
        try:
            where = paths.private_dir(folder) if folder else tempfile.gettempdir()
            with tempfile.TemporaryFile(dir=where) as probe:
                probe.write(b"x")
                probe.flush()
                os.fsync(probe.fileno())
            free = shutil.disk_usage(where).free
        except OSError as error:
            yield Finding(
                name,
                "bad",
                f"{folder or 'temporary files'}: {error.strerror}",
                f"Free space, or set {place}.",
            )
            continue
        text = f"{where}, {free / 2**30:.1f} GiB free"
        if free < _LEAST_FREE:
            yield Finding(name, "warning", text, "Scratch copies of a project need room: free some space.")
        else:
            yield Finding(name, "ok", text)


def _terminal() -> Iterator[Finding]:
    if not sys.stdout.isatty():
        yield Finding("Terminal", "ok", "none: output is piped")
        return
    size = shutil.get_terminal_size()
    encoding = (sys.stdout.encoding or "").lower()
    text = f"{os.environ.get('TERM', 'unknown')}, {size.columns}×{size.lines}, {encoding}"
    if encoding.replace("-", "") != "utf8":
        yield Finding("Terminal", "warning", text, "Set a UTF-8 locale (LANG=C.UTF-8).")
    elif size.columns < 80 or size.lines < 24:
        yield Finding("Terminal", "warning", text, "Make it at least 80×24.")
    else:
        yield Finding("Terminal", "ok", text)


_CHECKS: tuple[Callable[[], Iterator[Finding]], ...] = (_python, _sandbox, _git, _disk, _terminal)
_SIGNS = {"ok": ("ok  ", "green"), "warning": ("warn", "yellow"), "bad": ("bad ", "red")}


def _findings() -> Iterator[Finding]:
    for check in _CHECKS:
        try:
            yield from check()
        except DeskagentError as error:
            yield Finding(check.__name__.strip("_"), "bad", error.message, error.hint)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def doctor(as_json: bool) -> int:
    """Check this machine and say what to do. Exit code 1 if something will fail."""
    findings = list(_findings())
    if as_json:
        click.echo(json.dumps({"version": __version__, "findings": [asdict(f) for f in findings]}, indent=1))
    else:
        click.echo(f"deskagent {__version__}")
        for f in findings:
            sign, colour = _SIGNS[f.state]
            click.echo(f"{click.style(sign, fg=colour)}  {f.name:<17} {f.found}")
            if f.todo:
                click.echo(f"      {'':<17} → {f.todo}")
    return 1 if any(f.state == "bad" for f in findings) else 0
