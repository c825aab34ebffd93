"""What the person says, as a model gets it: their words, the files that they name by @, and what came on stdin."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from deskagent.errors import DeskagentError
from deskagent.messages import Part, Text
from deskagent.repair.source import SourceFile
from deskagent.tools import picture

_NAMED = re.compile(r"""(?<!\S)@(?:"([^"\n]+)"|'([^'\n]+)'|((?:\\ |[^\s@"'])(?:\\ |[^\s@])*))""")
_AFTER = ".,;:!?)]}»”"
"""What may follow a name in a sentence without being part of it."""
_LONGEST = 100_000

See = Callable[[str, Path], tuple[Part, ...]]


def said(words: str, piped: str = "", *, see: See) -> tuple[Part, ...]:
    """see: a picture's parts, by its name and path. Errors: UsageError of it."""
    parts: list[Part] = [Text(words)] if words.strip() else []
    for name, path in dict(_named(words)).items():
        parts += see(name, path) if _is_picture(path) else (_file(name, path),)
    if piped.strip():
        parts.append(Text(f"<stdin>\n{piped}\n</stdin>"))
    return tuple(parts)


def _named(words: str) -> Iterator[tuple[str, Path]]:
    """The files that are there: a name with spaces stands in quotes, or has a backslash before each."""
    for double, single, bare in _NAMED.findall(words):
        plain = double or single or bare.replace("\\ ", " ")
        for name in dict.fromkeys((plain, plain.rstrip(_AFTER))):
            path = Path.cwd() / Path(name).expanduser()
            if name and path.is_file():
                yield name, path
                break


def _is_picture(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return picture.is_picture(file.read(32))
    except OSError:
        return False


def _file(name: str, path: Path) -> Part:
    try:
        text = SourceFile.read(path.parent, path.name).text
    except DeskagentError as error:
        return Text(f"<file path={name!r}>\n({error.message})\n</file>")
    cut = f"\n… {len(text) - _LONGEST} characters more; read them" if len(text) > _LONGEST else ""
    return Text(f"<file path={name!r}>\n{text[:_LONGEST]}{cut}\n</file>")
