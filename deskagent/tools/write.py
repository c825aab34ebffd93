"""Writes a whole file: a new one, or all of one that was read."""

from __future__ import annotations

import os

from pydantic import Field

from deskagent.messages import Result
from deskagent.repair.diff import readable
from deskagent.repair.source import SourceError, SourceFile
from deskagent.tools.base import Arguments, Changes, Context, Effect, Tool, ToolError, Wish
from deskagent.tools.edit import known
from deskagent.tools.place import place, source
from deskagent.tools.read import digest


class WriteArguments(Arguments):
    path: str
    content: str = Field(description="all that the file will hold")


class Write(Tool[WriteArguments]):
    name = "write"
    prompt = (
        "Writes a file as a whole, and makes the folders that it needs. One that exists has to be read before. For a "
        "small change use edit."
    )
    arguments = WriteArguments

    def wish(self, arguments: WriteArguments, context: Context) -> Wish:
        changes = _changes(arguments, context)
        (name, (_, after)) = next(iter(changes.items()))
        return Wish(Effect.WRITE, readable(changes), f"write:{name}:{digest(after or b'')}", paths=(name,))

    def run(self, arguments: WriteArguments, context: Context) -> Result:
        changes = _changes(arguments, context)
        note = context.changed(changes)
        (name, (before, after)) = next(iter(changes.items()))
        assert after is not None
        context.seen[name] = digest(after)
        what = f"{name} was {'made' if before is None else 'written'}, {after.count(10)} lines."
        return Result.of("\n".join(filter(None, [what, note])))


def _changes(arguments: WriteArguments, context: Context) -> Changes:
    found = place(context.project, arguments.path)
    if not found.inside or found.name == ".":
        raise ToolError(f"{arguments.path} is no file in the project: only there anything is written.")
    if not os.path.lexists(context.project / found.name):
        return {found.name: (None, _encoded(arguments.content, "utf-8", found.name))}
    _, file = source(context.project, arguments.path)
    known(context, found.name, file.raw)
    after = file.bom + _encoded(_with_ends(arguments.content, file), file.encoding, found.name)
    try:
        SourceFile.from_bytes(found.name, after)
    except SourceError as error:
        raise ToolError(f"{error.message}. Nothing was changed.") from error
    if after == file.raw:
        raise ToolError(f"{found.name} holds that already: nothing would change.")
    return {found.name: (file.raw, after)}


def _encoded(text: str, encoding: str, name: str) -> bytes:
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as error:
        raise ToolError(
            f"{name} is {encoding}, which can't hold {text[error.start]!r}. Nothing was changed."
        ) from error


def _with_ends(text: str, file: SourceFile) -> str:
    """The text with the file's own line ends."""
    return text if file.newline == "\n" else text.replace("\r\n", "\n").replace("\n", file.newline)
