"""Where a path that a model wrote leads: inside the project, outside of it, or to what nobody may read."""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass
from pathlib import Path

from deskagent.repair.source import SourceError, SourceFile
from deskagent.terminal.sandbox.secrets import secret_paths
from deskagent.tools.base import Effect, ToolError, Wish

_NEAR = 5


@dataclass(frozen=True, slots=True)
class Place:
    """name: relative to the project, POSIX, where it lies inside; else absolute. path: with links followed."""

    name: str
    path: Path
    inside: bool

    @property
    def read(self) -> Wish:
        """The wish of a call that reads this place."""
        effect = Effect.READ if self.inside else Effect.OUTSIDE
        return Wish(effect, f"read {self.name}", f"read:{self.path}", paths=(self.name,))


def place(project: Path, written: str) -> Place:
    """project: resolved. Errors: ToolError for a path that is none, or leads to secrets."""
    if not written or "\0" in written:
        raise ToolError("The path is empty, or no path.")
    meant = Path(os.path.normpath(project / Path(written).expanduser()))
    path = Path(os.path.realpath(meant))
    if any(path == secret or secret in path.parents for secret in secret_paths(os.environ)):
        raise ToolError(f"{written} is, or holds, a secret of this machine: it is never read.")
    if path.is_relative_to(project):
        # by the name that was meant: a link inside the project stays what it is
        name = meant if meant.is_relative_to(project) else path
        return Place(name.relative_to(project).as_posix(), path, True)
    return Place(str(path), path, False)


def source(project: Path, written: str) -> tuple[Place, SourceFile]:
    """A file's text. Errors: ToolError that says what lies there instead, and what may have been meant."""
    found = place(project, written)
    if not found.path.exists():
        raise ToolError(f"There is no file {written}.{_near(project, found)}")
    if found.path.is_dir():
        raise ToolError(f"{written} is a folder. List what it holds by glob.")
    try:
        if found.inside:
            return found, SourceFile.read(project, found.name)
        return found, SourceFile.read(found.path.parent, found.path.name)
    except SourceError as error:
        raise ToolError(f"{error.message}.") from error


def _near(project: Path, found: Place) -> str:
    """Names beside the one that is missing, or of the same name elsewhere."""
    folder = found.path.parent
    try:
        beside = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    except OSError:
        beside = []
    lower = {name.lower(): name for name in beside}
    near = [lower[name] for name in difflib.get_close_matches(found.path.name.lower(), lower, _NEAR)]
    if not near:
        return f" The folder {folder} isn't there either." if not folder.is_dir() else ""
    names = [(folder / name).relative_to(project) if found.inside else folder / name for name in near]
    return f" Near it there are: {', '.join(map(str, names))}."
