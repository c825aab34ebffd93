"""Reads a text file, or a part of it, with its lines numbered."""

from __future__ import annotations

import hashlib
from pathlib import Path

from pydantic import Field

from deskagent.messages import Result
from deskagent.tools import picture
from deskagent.tools.base import Arguments, Context, Tool, ToolError, Wish
from deskagent.tools.place import place, source

MOST, LONGEST = 2000, 2000
"""Lines of one reading; characters of a line that are shown."""


class ReadArguments(Arguments):
    path: str = Field(description="relative to the project, or absolute")
    first: int = Field(1, ge=1, description="the line to begin with")
    lines: int = Field(MOST, ge=1, le=MOST, description="how many at most")


class Read(Tool[ReadArguments]):
    name = "read"
    prompt = (
        "Reads a text file. Each line comes behind its number and a tab, which aren't part of it. A file has to be "
        "read before it is edited."
    )
    arguments = ReadArguments
    looks = True

    def wish(self, arguments: ReadArguments, context: Context) -> Wish:
        return place(context.project, arguments.path).read

    def run(self, arguments: ReadArguments, context: Context) -> Result:
        found = place(context.project, arguments.path)
        if found.path.is_file() and picture.is_picture(_head(found.path)):
            raise ToolError(f"{arguments.path} is a picture, no text: `image` shows it to who can see.")
        _, file = source(context.project, arguments.path)
        lines = file.text.splitlines() if "\n" not in file.text else file.text.split("\n")
        if lines and not lines[-1]:
            lines.pop()
        first, last = arguments.first, min(arguments.first + arguments.lines - 1, len(lines))
        shown = [f"{number}\t{_cut(lines[number - 1])}" for number in range(first, last + 1)]
        context.seen[found.name] = digest(file.raw)
        notes = []
        if not file.raw:
            notes.append("(the file is empty)")
        elif first > len(lines):
            notes.append(f"(the file has {len(lines)} lines)")
        elif first > 1 or last < len(lines):
            notes.append(f"(lines {first} to {last} of {len(lines)})")
        if file.encoding != "utf-8" or file.bom or file.newline != "\n":
            ends = {"\r\n": "CRLF", "\r": "CR", "\n": "LF"}[file.newline]
            notes.append(
                f"({file.encoding}{' with BOM' if file.bom else ''}, line ends {ends}; edits keep that)"
            )
        return Result.of("\n".join([*shown, *notes]))


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(32)
    except OSError:
        return b""


def digest(raw: bytes) -> str:
    """What a file is known by: SHA-256 of its bytes."""
    return hashlib.sha256(raw).hexdigest()


def _cut(line: str) -> str:
    line = line.rstrip("\r")
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}… ({len(line) - LONGEST} characters more)"
