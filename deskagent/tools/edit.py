"""Replaces a piece of a file that stands there exactly once; every other byte stays as it is."""

from __future__ import annotations

import difflib

from pydantic import Field

from deskagent.messages import Result
from deskagent.repair.diff import readable
from deskagent.repair.source import SourceError, SourceFile
from deskagent.repair.types import Edit as ByteEdit
from deskagent.tools.base import Arguments, Context, Effect, Tool, ToolError, Wish
from deskagent.tools.place import Place, source
from deskagent.tools.read import digest

_NEAR = 0.6


class EditArguments(Arguments):
    path: str
    old: str = Field(
        description="the text to replace, exactly as it stands in the file, without line numbers"
    )
    new: str = Field(description="what takes its place")
    all: bool = Field(False, description="replace every place where it stands, not just one")


class Edit(Tool[EditArguments]):
    name = "edit"
    prompt = (
        "Replaces `old` by `new` in a file that was read before. `old` has to stand in it exactly once, so give enough "
        "lines around the change; or set `all`."
    )
    arguments = EditArguments

    def wish(self, arguments: EditArguments, context: Context) -> Wish:
        found, file, after = _edited(arguments, context)
        diff = readable({found.name: (file.raw, after)})
        return Wish(Effect.WRITE, diff, f"edit:{found.path}:{digest(after)}", paths=(found.name,))

    def run(self, arguments: EditArguments, context: Context) -> Result:
        found, file, after = _edited(arguments, context)
        note = context.changed({found.name: (file.raw, after)})
        context.seen[found.name] = digest(after)
        return Result.of("\n".join(filter(None, [readable({found.name: (file.raw, after)}), note])))


def _edited(arguments: EditArguments, context: Context) -> tuple[Place, SourceFile, bytes]:
    found, file = source(context.project, arguments.path)
    if not found.inside:
        raise ToolError(f"{arguments.path} lies outside the project: only files in it are edited.")
    known(context, found.name, file.raw)
    if arguments.old == arguments.new:
        raise ToolError("`old` and `new` are the same: nothing would change.")
    try:
        edits = [
            ByteEdit(found.name, start, end, arguments.new)
            for start, end in places(file, arguments.old, every=arguments.all)
        ]
        return found, file, file.apply(edits)
    except SourceError as error:
        raise ToolError(f"{error.message}. Nothing was changed.") from error


def known(context: Context, name: str, raw: bytes) -> None:
    """Errors: ToolError where the model hasn't seen the file as it is now."""
    seen = context.seen.get(name)
    if seen is None:
        raise ToolError(f"{name} wasn't read yet. Read it first. Nothing was changed.")
    if seen != digest(raw):
        raise ToolError(f"{name} has changed since it was read. Read it again. Nothing was changed.")


def places(file: SourceFile, old: str, *, every: bool) -> list[tuple[int, int]]:
    """Where `old` stands, in bytes of the text's UTF-8; with the file's own line ends, if it isn't there with those
    that were given. Errors: ToolError for none, and for several unless `every`."""
    if not old:
        raise ToolError("`old` is empty. To make a file, or write all of one anew, use write.")
    for wanted in dict.fromkeys((old, old.replace("\r\n", "\n").replace("\n", file.newline))):
        piece = wanted.encode("utf-8", "surrogatepass")
        found = list(_all(file.utf8, piece))
        if found and (every or len(found) == 1):
            return [(start, start + len(piece)) for start in found]
        if found:
            lines = ", ".join(str(file.utf8.count(b"\n", 0, start) + 1) for start in found[:10])
            raise ToolError(
                f"`old` stands in {file.path} {len(found)} times (lines {lines}). Give more around it."
            )
    raise ToolError(f"`old` doesn't stand in {file.path}.{_nearest(file.text, old)} Nothing was changed.")


def _all(text: bytes, piece: bytes) -> list[int]:
    found, at = [], text.find(piece)
    while at >= 0:
        found.append(at)
        at = text.find(piece, at + len(piece))
    return found


def _nearest(text: str, old: str) -> str:
    """The lines that are most like `old`, so that the next try can be exact."""
    lines, wanted = text.splitlines(), old.splitlines()
    first = next((line for line in wanted if line.strip()), "")
    near = difflib.get_close_matches(first, lines, 1, _NEAR) if first else []
    if not near:
        return ""
    row = lines.index(near[0])
    offset = wanted.index(first)
    start = max(row - offset, 0)
    shown = "\n".join(
        f"{n}\t{lines[n - 1]}" for n in range(start + 1, min(start + len(wanted), len(lines)) + 1)
    )
    return f" Nearest to it:\n{shown}\n"
