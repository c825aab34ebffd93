"""Where files lie that a person and a project give, and the reading of them.

The person's own lie with their settings, a project's in its `.agents`, which counts once the folder is trusted. Of two
of one name the person's own holds: a project replaces nothing that the person calls by its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from deskagent import paths
from deskagent.agent.given import matter

PROJECT = ".agents"
MOST, MOST_BYTES = 100, 64_000
"""Files of one kind that are read in a folder; bytes of each that count."""
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}")
_SAYS = 1024

Warn = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Given:
    """A Markdown file. says: its description, a line. fields: all of its front matter. own: it is the person's, not the
    project's."""

    name: str
    says: str
    body: str
    path: Path
    own: bool
    fields: dict[str, str | tuple[str, ...]]


def given(kind: str, project: Path, *, trusted: bool, warn: Warn) -> dict[str, Given]:
    """All of a kind (a folder's name) by name. What can't be used is said by `warn` and left out."""
    found: dict[str, Given] = {}
    for folder, own in _folders(kind, project, trusted=trusted):
        for path, name in _files(folder, kind, warn):
            if not own and not path.resolve().is_relative_to(project):
                warn(f"{path} leads out of the project: it is left out.")
                continue
            one = _read(path, name, own, warn)
            if one is not None:
                found.setdefault(one.name, one)
    return found


def _folders(kind: str, project: Path, *, trusted: bool) -> Iterator[tuple[Path, bool]]:
    yield paths.config_dir() / kind, True
    if trusted:
        yield project / PROJECT / kind, False


def _files(folder: Path, kind: str, warn: Warn) -> Iterable[tuple[Path, str]]:
    """The files of a folder, with the names that they have where they say none."""
    try:
        names = sorted(path.name for path in folder.iterdir())
    except OSError:
        return []
    if kind == "skills":
        files = [(folder / name / "SKILL.md", name) for name in names]
    else:
        files = [(folder / name, name.removesuffix(".md")) for name in names if name.endswith(".md")]
    files = [(path, name) for path, name in files if path.is_file()]
    if len(files) > MOST:
        warn(f"{folder} holds {len(files)} {kind}; {MOST} of them are used.")
    return files[:MOST]


def _read(path: Path, name: str, own: bool, warn: Warn) -> Given | None:
    try:
        text, more = matter.bounded(path, MOST_BYTES)
    except OSError as error:
        warn(f"{path} can't be read: {error.strerror or error}.")
        return None
    if more:
        warn(f"{path} has more than {MOST_BYTES} bytes: the rest is left out.")
    fields, body = matter.split(text)
    named = matter.line(fields.get("name"), 100) or name
    if not _NAME.fullmatch(named):
        warn(f"{path} names itself {named[:80]!r}, which is no name: letters, digits, - and _.")
        return None
    return Given(named, matter.line(fields.get("description"), _SAYS), body, path, own, fields)
