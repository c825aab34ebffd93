"""All tools by name, and what a model is told of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from deskagent.errors import UsageError
from deskagent.providers import schema
from deskagent.providers.base import Tool as Told
from deskagent.tools.ask import Ask
from deskagent.tools.base import Tool
from deskagent.tools.edit import Edit
from deskagent.tools.fetch import Fetch
from deskagent.tools.git import Git
from deskagent.tools.glob import Glob
from deskagent.tools.grep import Grep
from deskagent.tools.image import Image
from deskagent.tools.job import RunJob
from deskagent.tools.patch import Patch
from deskagent.tools.read import Read
from deskagent.tools.symbols import Symbols
from deskagent.tools.terminal import Terminal
from deskagent.tools.todo import Todo
from deskagent.tools.write import Write

ALL: tuple[type[Tool[Any]], ...] = (
    Read,
    Image,
    Edit,
    Patch,
    Write,
    Glob,
    Grep,
    Symbols,
    Git,
    Terminal,
    RunJob,
    Fetch,
    Todo,
    Ask,
)
"""In the order that models are told of them, which stays the same, since it is part of the prefix."""


def tools(names: Iterable[str] | None = None, more: Iterable[Tool[Any]] = ()) -> dict[str, Tool[Any]]:
    """Those of the names, None for all; `more` come behind. Errors: UsageError for a name that none has."""
    every = {tool.name: tool for tool in (*(kind() for kind in ALL), *more)}
    wanted = every if names is None else dict.fromkeys(names)
    if unknown := [name for name in wanted if name not in every]:
        raise UsageError(f"There is no tool {unknown[0]!r}.", hint=f"There are: {', '.join(every)}.")
    return {name: tool for name, tool in every.items() if name in wanted}


def told(found: Mapping[str, Tool[Any]]) -> tuple[Told, ...]:
    """As a provider sends them, in the simple form that small models and strict servers read best."""
    return tuple(
        Told(name, tool.prompt, _untitled(schema.plain(tool.arguments.model_json_schema())))
        for name, tool in found.items()
    )


def _untitled(node: Any) -> Any:
    """A schema without titles, which say the names again."""
    if isinstance(node, list):
        return [_untitled(each) for each in node]
    if not isinstance(node, dict):
        return node
    return {
        key: {name: _untitled(each) for name, each in value.items()}
        if key == "properties"
        else _untitled(value)
        for key, value in node.items()
        if key != "title"
    }
