"""Which session to go on with."""

from __future__ import annotations

from pathlib import Path

from deskagent.errors import UsageError
from deskagent.session import index, store
from deskagent.session.summary import Summary


def sessions_of(project: Path) -> list[Summary]:
    """The sessions begun in `project` itself that asked for something, the newest first."""
    return [s for s in index.sessions(project) if Path(s.cwd) == project and s.title]


def find(name: str, project: Path) -> Path:
    """The folder of the session `name` (an id or its beginning); "" is the latest of `project`. UsageError."""
    if name and name != "last":
        return store.find(name)
    newest = next(iter(sessions_of(project)), None)
    if newest is None:
        raise UsageError(
            f"There is no session of {project} yet.", hint="All sessions: deskagent sessions list --all"
        )
    return store.find(newest.id)
