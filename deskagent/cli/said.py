"""What the person says, as a model gets it: their words, the files that they name by @, and what came on stdin."""

from __future__ import annotations

import re
from pathlib import Path

from deskagent.errors import DeskagentError
from deskagent.messages import Part, Text
from deskagent.repair.source import SourceFile

_NAMED = re.compile(r"(?<!\S)@([^\s@]+)")
_LONGEST = 100_000


def said(words: str, piped: str = "") -> tuple[Part, ...]:
    parts: list[Part] = [Text(words)] if words.strip() else []
    for name in dict.fromkeys(_NAMED.findall(words)):
        path = Path.cwd() / Path(name).expanduser()
        if path.is_file():
            parts.append(_file(name, path))
    if piped.strip():
        parts.append(Text(f"<stdin>\n{piped}\n</stdin>"))
    return tuple(parts)


def _file(name: str, path: Path) -> Part:
    try:
        text = SourceFile.read(path.parent, path.name).text
    except DeskagentError as error:
        return Text(f"<file path={name!r}>\n({error.message})\n</file>")
    cut = f"\n… {len(text) - _LONGEST} characters more; read them" if len(text) > _LONGEST else ""
    return Text(f"<file path={name!r}>\n{text[:_LONGEST]}{cut}\n</file>")
