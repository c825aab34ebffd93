"""Puts a patch into files that were read: a unified diff, or the form between `*** Begin Patch` and `*** End Patch`."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import replace

from pydantic import Field

from deskagent.messages import Result
from deskagent.repair.diff import readable
from deskagent.tools.base import Arguments, Changes, Context, Effect, Tool, ToolError, Wish
from deskagent.tools.edit import known
from deskagent.tools.patches import unified, v4a
from deskagent.tools.patches.form import Do, FilePatch, PatchError
from deskagent.tools.patches.put import put
from deskagent.tools.place import place, source
from deskagent.tools.read import digest


class PatchArguments(Arguments):
    patch: str = Field(description="all of it, for one file or several")


class Patch(Tool[PatchArguments]):
    name = "patch"
    prompt = (
        "Changes, makes, renames and removes files by a patch: a unified diff (---, +++, @@), or the form\n"
        "*** Begin Patch\n*** Update File: src/a.py\n@@ def f():\n     kept\n-old\n+new\n*** Add File: b.txt\n+text\n"
        "*** Delete File: c.txt\n*** End Patch\n"
        "Lines that stay and go have to stand in the file as they are, in one place: give enough of them. Line numbers "
        "needn't be right. Files that exist have to be read before. All of a patch is put in, or nothing."
    )
    arguments = PatchArguments

    def wish(self, arguments: PatchArguments, context: Context) -> Wish:
        changes = _made(arguments.patch, context)
        key = hashlib.sha256("".join(_keys(changes)).encode("utf-8", "surrogatepass")).hexdigest()
        return Wish(Effect.WRITE, readable(changes), f"patch:{context.project}:{key}", paths=tuple(changes))

    def run(self, arguments: PatchArguments, context: Context) -> Result:
        changes = _made(arguments.patch, context)
        note = context.changed(changes)
        for name, (_, after) in changes.items():
            if after is None:
                context.seen.pop(name, None)
            else:
                context.seen[name] = digest(after)
        return Result.of("\n".join(filter(None, [readable(changes), note])))


def _keys(changes: Changes) -> Iterator[str]:
    for name, (_, after) in sorted(changes.items()):
        yield f"{name}\0{digest(after) if after is not None else ''}\0"


def _made(text: str, context: Context) -> Changes:
    """What the patch comes to. Errors: ToolError."""
    parts = v4a.parse(text) if v4a.BEGIN in text else unified.parse(text)
    changes: dict[str, tuple[bytes | None, bytes | None]] = {}
    for part in _joined(parts):
        found = place(context.project, part.path)
        if not found.inside or found.name == ".":
            raise PatchError(f"{part.path} is no file in the project: only there anything is changed.")
        name = _new_name(part, context) if part.moved else found.name
        if part.do is Do.ADD:
            _absent(context, name)
            made = {name: (None, _added(part))}
        else:
            _, file = source(context.project, part.path)
            known(context, found.name, file.raw)
            after = None if part.do is Do.DELETE else put(file, part.hunks)
            made = {name: (file.raw, after)}
            if name != found.name:
                made = {found.name: (file.raw, None), name: (None, after)}
                if found.path.stat().st_mode & 0o111:
                    raise PatchError(
                        f"{found.name} is a program, whose mode a patch can't keep: move it by mv."
                    )
        if twice := changes.keys() & made.keys():
            raise PatchError(f"The patch names {twice.pop()} in two ways.")
        changes |= made
    changes = {name: change for name, change in changes.items() if change[0] != change[1]}
    if not changes:
        raise PatchError("The files hold that already: nothing would change.")
    return changes


def _joined(parts: list[FilePatch]) -> list[FilePatch]:
    """Updates of one file as one."""
    found: dict[str, FilePatch] = {}
    for part in parts:
        before = found.get(part.path)
        if before is None:
            found[part.path] = part
        elif before.do is part.do is Do.UPDATE and not (before.moved and part.moved):
            hunks = (*before.hunks, *part.hunks)
            found[part.path] = replace(before, hunks=hunks, moved=before.moved or part.moved)
        else:
            raise PatchError(f"The patch names {part.path} in two ways.")
    return list(found.values())


def _new_name(part: FilePatch, context: Context) -> str:
    found = place(context.project, part.moved)
    if not found.inside or found.name == ".":
        raise PatchError(f"{part.moved} is no place in the project: only there anything is changed.")
    _absent(context, found.name)
    return found.name


def _absent(context: Context, name: str) -> None:
    if os.path.lexists(context.project / name):
        raise PatchError(f"{name} is there already. Read it, and patch it.")


def _added(part: FilePatch) -> bytes:
    rows = [text for hunk in part.hunks for sign, text in hunk.rows if sign != "-"]
    ends = part.hunks[-1].ends if part.hunks else None
    text = "".join(f"{row}\n" for row in rows)
    try:
        return (text[:-1] if ends and not ends[1] else text).encode()
    except UnicodeEncodeError as error:
        raise ToolError(f"{part.path} can't hold {text[error.start]!r}. Nothing was changed.") from error
