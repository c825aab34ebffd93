"""Finds where things are defined, used and called, and draws a map of the project, by its index."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from enum import StrEnum

from pydantic import Field

from deskagent.messages import Result
from deskagent.repo import store
from deskagent.repo.index import Index, open_index
from deskagent.tools.base import Arguments, Context, Effect, Tool, ToolError, Wish

_MOST = 60
_FRESH = 3.0
"""Seconds that are spent on what changed since."""


class Do(StrEnum):
    MAP = "map"
    DEFINITIONS = "definitions"
    REFERENCES = "references"
    CALLERS = "callers"
    NAMES = "names"


class SymbolsArguments(Arguments):
    do: Do
    name: str = Field(
        "", description="`f`, `Class.method` or `module.name`; names: a part of a name; map: a focus"
    )
    tokens: int = Field(1500, ge=200, le=8000, description="map: how long it may be")


class Symbols(Tool[SymbolsArguments]):
    name = "symbols"
    prompt = (
        "Asks the project's index: `definitions`, `references` and `callers` of a name, `names` that hold a part, or a "
        "`map` of the most important signatures. Better than grep for code; it knows several languages."
    )
    arguments = SymbolsArguments
    looks = True

    def wish(self, arguments: SymbolsArguments, context: Context) -> Wish:
        if arguments.do is not Do.MAP and not arguments.name.strip():
            raise ToolError(f"{arguments.do} needs a name.")
        return Wish(Effect.READ, f"symbols {arguments.do} {arguments.name}", "symbols")

    def run(self, arguments: SymbolsArguments, context: Context) -> Result:
        with open_index(context.project) as index:
            with suppress(store.Locked):  # another process is at it
                index.refresh(seconds=_FRESH)
            lines = _ANSWERS[arguments.do](index, arguments)
            whole = index.status()
        shown = lines[:_MOST] if arguments.do is not Do.MAP else lines
        if len(lines) > len(shown):
            shown.append(f"({len(lines) - len(shown)} more)")
        if whole.files < whole.listed:
            shown.append(f"(the index holds {whole.files} of {whole.listed} files so far)")
        return Result.of("\n".join(shown) or "Nothing is known by that name.")


def _definitions(index: Index, arguments: SymbolsArguments) -> list[str]:
    found = index.find(arguments.name) or index.similar_definitions(arguments.name, 10)
    return [f"{d.path}:{d.line}-{d.end_line}: {d.kind} {d.qualified}  {d.signature}" for d in found]


def _references(index: Index, arguments: SymbolsArguments) -> list[str]:
    return [
        f"{r.path}:{r.line}: {'call' if r.call else 'mention'}{f' in {r.inside.qualified}' if r.inside else ''}"
        for r in index.references(arguments.name)
    ]


def _callers(index: Index, arguments: SymbolsArguments) -> list[str]:
    return [
        f"{c.definition.path}:{c.definition.line}: {c.definition.qualified} at {', '.join(map(str, c.lines))}"
        for c in index.callers(arguments.name)
    ]


_ANSWERS: Mapping[Do, Callable[[Index, SymbolsArguments], list[str]]] = {
    Do.MAP: lambda index, a: index.map(a.tokens, a.name.split()).split("\n"),
    Do.DEFINITIONS: _definitions,
    Do.REFERENCES: _references,
    Do.CALLERS: _callers,
    Do.NAMES: lambda index, a: index.search_identifiers(a.name),
}
