"""Lists small edits that fit the code at a place, has them tried by the tests, and puts one into the file."""

from __future__ import annotations

import itertools
from enum import StrEnum

from pydantic import Field

from deskagent.messages import Result
from deskagent.repair.diff import readable
from deskagent.repair.source import SourceError
from deskagent.repair.types import Candidate, Status, Suspect
from deskagent.tools import bench as benches
from deskagent.tools.base import Arguments, Changes, Context, Effect, Tool, ToolError, Wish
from deskagent.tools.bench import Bench, Look
from deskagent.tools.place import place
from deskagent.tools.read import digest

_MOST_TRIED = 50


class Do(StrEnum):
    LIST = "list"
    TRY = "try"
    APPLY = "apply"


class TypedEditsArguments(Arguments):
    do: Do
    path: str = Field("", description="list: the file; default: wherever is most suspicious")
    line: int = Field(0, ge=0, description="list: the line in it; 0 for its suspicious lines")
    most: int = Field(20, ge=1, le=100, description="list: how many")
    edits: list[str] = Field(default=[], description="try, apply: keys, as list gave them; apply takes one")
    test: str = Field("", description="the command that fails; default: the usual one")


class TypedEdits(Tool[TypedEditsArguments]):
    name = "typed_edits"
    prompt = (
        "Small edits made by rules: a comparison turned, an argument swapped, a name or a bound replaced, a check "
        "added. `list` those that fit a place, the likeliest first; `try` several at once: the tests say of each "
        "whether it passes, in copies; `apply` one. Cheap: good for slips, of no use where code is missing."
    )
    arguments = TypedEditsArguments

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._found: dict[str, Candidate] = {}
        self._keys: dict[str, str] = {}

    def wish(self, arguments: TypedEditsArguments, context: Context) -> Wish:
        if arguments.do is Do.APPLY:
            changes = self._changes(arguments, context)
            return Wish(Effect.WRITE, readable(changes), f"apply:{arguments.edits}", paths=tuple(changes))
        if arguments.do is Do.TRY:
            if not 1 <= len(arguments.edits) <= _MOST_TRIED:
                raise ToolError(f"`try` takes 1 to {_MOST_TRIED} keys of edits.")
            for key in arguments.edits:
                self._known(key)
        return benches.wish(self._bench, arguments.test, context)

    def run(self, arguments: TypedEditsArguments, context: Context) -> Result:
        if arguments.do is Do.APPLY:
            changes = self._changes(arguments, context)
            note = context.change(changes)
            context.seen.update({path: digest(after or b"") for path, (_, after) in changes.items()})
            return Result.of("\n".join(filter(None, ["Applied.", readable(changes), note])))
        if arguments.do is Do.TRY:
            return Result.of("\n".join(self._tried(key, context) for key in arguments.edits))
        look = self._bench.look(arguments.test, "", context)
        found = [self._told(candidate) for candidate in self._fitting(look, arguments, context)]
        return Result.of("\n".join(found) or "No typed edit fits there.")

    def _fitting(self, look: Look, arguments: TypedEditsArguments, context: Context) -> list[Candidate]:
        from deskagent.repair.rank import (
            iter_ranked,  # with all kinds of edits, which take a third of a second to import
        )

        suspects = look.suspects
        if arguments.path:
            name = place(context.project, arguments.path).name
            suspects = tuple(s for s in suspects if s.path == name)
            if arguments.line:
                suspects = (Suspect(name, arguments.line, 1.0),)
            elif not suspects:
                raise ToolError(f"No line of {name} is suspected. Name a line.")
        stream = iter_ranked(look.read, suspects, request=look.words, baseline=look.baseline)
        return [ranked.candidate for ranked in itertools.islice(stream, arguments.most)]

    def _told(self, candidate: Candidate) -> str:
        key = self._keys.setdefault(candidate.key, f"e{len(self._keys) + 1}")
        self._found[key] = candidate
        return f"{key}  {candidate.path}:{candidate.line}  {candidate.note}  ({candidate.operator})"

    def _known(self, key: str) -> Candidate:
        if key not in self._found:
            raise ToolError(f"There is no edit {key!r}: `list` gives keys, such as e1.")
        return self._found[key]

    def _tried(self, key: str, context: Context) -> str:
        verdict = self._bench.tried(self._known(key), context)
        if verdict.status is Status.GREEN:
            return f"{key}: passes"
        bad = next((r.id for r in verdict.results if r.outcome.bad), "")
        return f"{key}: {verdict.status}{f', {bad}' if bad else ''}"

    def _changes(self, arguments: TypedEditsArguments, context: Context) -> Changes:
        if len(arguments.edits) != 1:
            raise ToolError("`apply` takes the key of one edit.")
        candidate = self._known(arguments.edits[0])
        look = self._bench.look(arguments.test, "", context)
        changes: dict[str, tuple[bytes | None, bytes | None]] = {}
        for path in {edit.path for edit in candidate.edits}:
            try:
                file = look.read(path)
                after = file.apply([edit for edit in candidate.edits if edit.path == path])
                now = (context.project / path).read_bytes()
            except (SourceError, OSError) as error:
                raise ToolError(f"{path} can't be changed: {error}.") from error
            if now != file.raw:
                raise ToolError(f"{path} has changed since that edit was made. Write it by hand.")
            changes[path] = file.raw, after
        return changes
