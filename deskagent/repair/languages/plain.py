"""Suspects in languages that nothing is edited in: lines that the tests' output points to, lines that define what
the request or the failing tests name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from deskagent.repair.hints import Hints
from deskagent.repair.languages.known import edited, language_of
from deskagent.repair.source import SourceError, SourceFile
from deskagent.repair.types import Baseline, Suspect
from deskagent.repo.walk import walk

POINTED_AT, ON_STACK = 1.0, 0.6
DEFINED_REQUEST, DEFINED_MESSAGE = 0.4, 0.2
MAX_FILES = 400
_PLACE = re.compile(r"(?<![\w./\\-])((?:[\w.@+-]+/)*[\w.@+-]+\.[A-Za-z]\w{0,5})(?:\((\d+)\)|:(\d+))")
_DEFINES = re.compile(
    r"^\s*(?:[\w:<>,&*\[\]]+\s+)*?(?:fn|func|fun|function|def|sub|proc|class|struct|enum|trait|interface|module|void|\w[\w:<>*&\[\]]*)"
    r"\s+[*&]*(?:self\.|\w+(?:::|\.))?(\w+)\s*(?:[(<{:=]|$)"
)


def suspects(
    project: Path, baseline: Baseline, hints: Hints, allowed: Callable[[str], bool]
) -> Iterator[Suspect]:
    """Suspects in the files that `allowed` lets through, in no order; a line may come more than once."""
    names = [name for name in walk(project).files if language_of(name) and not edited(name) and allowed(name)]
    known = set(names)
    for result in baseline.failing:
        frames = [frame for frame in result.frames if frame.path in known]
        for frame in frames[:-1]:
            yield Suspect(frame.path, frame.line, ON_STACK, ("on the stack when a test failed",))
        if frames:
            last = frames[-1]
            yield Suspect(
                last.path, last.line, POINTED_AT, ("the innermost line of the project when a test failed",)
            )
        for path, line in _places(result.message, names):
            yield Suspect(path, line, POINTED_AT * 0.9, ("the failing tests' output names this line",))
    for name in names[:MAX_FILES]:
        yield from _definitions(project, name, hints)


def _places(text: str, names: list[str]) -> set[tuple[str, int]]:
    """(path, line) of the project's files that a text speaks of; a bare name counts where it is unique."""
    found = set()
    for match in _PLACE.finditer(text[-200_000:]):
        named, line = match[1], int(match[2] or match[3])
        fits = [
            name
            for name in names
            if name == named or name.endswith(f"/{named}") or named.endswith(f"/{name}")
        ]
        if len(fits) == 1 and 0 < line < 1_000_000:
            found.add((fits[0], line))
    return found


def _definitions(project: Path, name: str, hints: Hints) -> Iterator[Suspect]:
    try:
        text = SourceFile.read(project, name).text
    except SourceError:  # what can't be read as text holds no place to show
        return
    for number, line in enumerate(text.splitlines(), 1):
        found = _DEFINES.match(line[:300])
        if found is None or line.rstrip().endswith(";"):
            continue
        if found[1] in hints.request:
            yield Suspect(name, number, DEFINED_REQUEST, (f"defines {found[1]}, which the request names",))
        elif found[1] in hints.message:
            yield Suspect(
                name, number, DEFINED_MESSAGE, (f"defines {found[1]}, which the failing tests name",)
            )
