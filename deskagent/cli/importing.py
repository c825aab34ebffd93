"""`deskagent import`: what another agent keeps is shown, approved and brought over."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from deskagent.errors import UsageError

if TYPE_CHECKING:
    from deskagent.imports.plan import Plan

_SOURCES = ("claude", "codex", "opencode", "kimi")
_MOST = 12
"""Things of a kind that are named one by one."""


@click.command("import")
@click.argument("source", type=click.Choice(_SOURCES))
@click.option("--dry-run", is_flag=True, help="Show what would come over, and end.")
@click.option("--yes", is_flag=True, help="Don't ask.")
@click.option(
    "--only",
    default="",
    metavar="KINDS",
    help="Of sessions, instructions, mcp, rules, skills, hooks: apart by commas.",
)
def import_(source: str, dry_run: bool, yes: bool, only: str) -> int:
    """Bring sessions, instructions, MCP servers, rules, skills and hooks over from another agent.

    What there is is shown first. Nothing of the other agent is changed, secrets stay where they are, and what is here
    already doesn't come twice. Go on with a session by `deskagent chat -r ID` in its folder.
    """
    from deskagent.imports.carry import alone, carry
    from deskagent.imports.plan import plan
    from deskagent.imports.sources import SOURCES, look
    from deskagent.terminal.text import printable

    kinds = _kinds(only)
    with alone():
        made = plan(source, look(source), kinds)
        title = SOURCES[source].title
        for line in _shown(made, title, kinds):
            click.echo(printable(line, newlines=False))
        if made.empty:
            click.echo("There is nothing new to bring over.")
            return 0
        if dry_run:
            return 0
        if not yes:
            if not sys.stdin.isatty():
                raise UsageError("Nobody is here to approve that.", hint="Look at it, then add --yes.")
            if not click.confirm("Bring this over?", default=False):
                return 1
        quiet = not sys.stderr.isatty()
        done = carry(
            made,
            title,
            lambda line: None if quiet else click.echo(printable(line, newlines=False), err=True),
        )
    for note in done.notes:
        click.echo(printable(note, newlines=False), err=True)
    lost = f" ({done.lost} pieces couldn't be read)" if done.lost else ""
    click.echo(f"Brought over: {_counts(made, len(done.sessions))}{lost}.")
    if done.sessions:
        click.echo(f"To go on with the latest: deskagent chat -r {max(done.sessions)}")
    return 0


def _kinds(only: str) -> list[str]:
    from deskagent.imports.found import KINDS

    wanted = [kind.strip() for kind in only.split(",") if kind.strip()] or list(KINDS)
    if unknown := [kind for kind in wanted if kind not in KINDS]:
        raise UsageError(f"{unknown[0]!r} can't be brought over.", hint=f"--only takes: {', '.join(KINDS)}.")
    return wanted


def _shown(plan: Plan, title: str, kinds: list[str]) -> list[str]:
    from deskagent.agent.hooks.named import own_file as hooks_file
    from deskagent.agent.servers.named import own_file
    from deskagent.imports.plan import instructions_file, skills_folder
    from deskagent.imports.servers import named

    size = sum(session.size for session in plan.sessions) / 1e6
    told = {
        "sessions": (f"{len(plan.sessions)} new, {size:.1f} MB", ""),
        "instructions": (_some([mark.split()[1] for mark in plan.instructions]), str(instructions_file())),
        "mcp": (_some([server.name for server in plan.servers]), str(own_file())),
        "rules": (
            _some([f"{each.kind} {each.rule}" for each in plan.permissions]),
            "your rules for every folder",
        ),
        "skills": (_some([path.name for path in plan.skills]), str(skills_folder())),
        "hooks": (_some([f"{hook.on}: {hook.command}" for hook in plan.hooks]), str(hooks_file())),
    }
    lines = [f"{title} ({plan.found.home})"]
    for kind in kinds:
        what, where = told[kind]
        here = f"; here already: {plan.here[kind]}" if plan.here.get(kind) else ""
        lines.append(f"  {kind:<13} {what}{f' → {where}' if where and what != 'none new' else ''}{here}")
    if keys := named(plan.servers):
        lines.append(f"  Keys stay there. Set these yourself: {', '.join(keys)}")
    return [*lines, *(f"  {note}" for note in plan.notes)]


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return ", ".join(names[:_MOST]) + more if names else "none new"


def _counts(plan: Plan, sessions: int) -> str:
    counts = {
        "sessions": sessions,
        "instructions": len(plan.instructions),
        "MCP servers": len(plan.servers),
        "rules": len(plan.permissions),
        "skills": len(plan.skills),
        "hooks": len(plan.hooks),
    }
    return ", ".join(f"{count} {what}" for what, count in counts.items() if count) or "nothing"
