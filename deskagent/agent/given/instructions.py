"""Files of instructions: AGENTS.md, or CLAUDE.md where a folder has none; the nearest to the work wins.

Those of the person and of the folders around the start are in the head of a conversation; those of folders below are
told when a file below them is first read or changed. A project's count once it is trusted. A line that is `@path` alone
is replaced by that file, if it lies in the same project (or in the person's settings).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from deskagent import paths
from deskagent.agent.given import matter

NAMES = ("AGENTS.md", "CLAUDE.md")
LONGEST = 32_000
"""Bytes of a file that count; characters of it with what it imports."""
_DEEPEST = 5
_IMPORT = re.compile(r"@(?!\s)([^\n@]+)")


def around(project: Path, start: Path | None, *, trusted: bool) -> Iterator[Path]:
    """The files that a conversation's head holds, the nearest last: what it says goes before what others say."""
    yield from filter(None, [_of(paths.config_dir(), paths.config_dir())])
    if trusted:
        here = start if start is not None and start.is_relative_to(project) else project
        for folder in (*reversed(here.parents), here):
            if folder.is_relative_to(project) and (found := _of(folder, project)):
                yield found


def below(project: Path, names: Iterable[str]) -> list[Path]:
    """The files that hold for project-relative paths, the nearest last."""
    found: dict[Path, None] = {}
    for name in names:
        path = project / name
        for folder in (*reversed(path.parents),):
            if folder.is_relative_to(project) and (one := _of(folder, project)):
                found[one] = None
    return list(found)


def title(path: Path, project: Path) -> str:
    """The line above a file's text, by which it is known again."""
    name = path.relative_to(project) if path.is_relative_to(project) else path.name
    return f"Instructions of {name}:"


def told(path: Path, project: Path) -> str:
    """A file's text under its title."""
    root = project if path.is_relative_to(project) else paths.config_dir()
    text = _text(path, root.resolve(), _DEEPEST, set()).strip()
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}\n(cut: there is more in the file)"
    return f"{title(path, project)}\n{text}"


def _of(folder: Path, root: Path) -> Path | None:
    """The file of a folder. One that leads out of its root isn't taken."""
    found = (folder / name for name in NAMES)
    return next((p for p in found if p.is_file() and p.resolve().is_relative_to(root.resolve())), None)


def _text(path: Path, root: Path, deep: int, seen: set[Path]) -> str:
    seen.add(path.resolve())
    try:
        text, more = matter.bounded(path, LONGEST)
    except OSError as error:
        return f"({path.name} can't be read: {error.strerror or error})"
    lines = [_line(line, path, root, deep, seen) for line in text.split("\n")]
    return "\n".join([*lines, "(cut: there is more in the file)"] if more else lines)


def _line(line: str, path: Path, root: Path, deep: int, seen: set[Path]) -> str:
    found = _IMPORT.fullmatch(line.strip())
    if found is None or "\0" in found[1]:
        return line
    wanted = (path.parent / found[1].strip()).resolve()
    if not wanted.is_relative_to(root) or deep == 0 or wanted in seen or not wanted.is_file():
        return f"{line} (not taken in)"
    return _text(wanted, root, deep - 1, seen)
