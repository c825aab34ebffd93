"""Has changes of files looked at by the linters and language servers that are installed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from deskagent.agent.permissions import is_trusted
from deskagent.tools.base import Context
from deskagent.tools.diagnose.look import Looker, wanted
from deskagent.tools.jobs import Jobs


def diagnosed(context: Callable[[str], Context], project: Path, jobs: Jobs) -> Callable[[str], Context]:
    """Contexts as `context` makes them, whose changes are looked at; servers end with `jobs`."""
    if not wanted():
        return context
    looker = Looker(project, lambda: is_trusted(project))
    jobs.end_with(looker.close)
    return lambda call: replace(context(call), diagnose=looker.look)
