"""A server's tool as one of ours: `mcp__server__tool`, with the words and arguments that the person approved."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from pydantic import ConfigDict

from deskagent.messages import Outcome, Result
from deskagent.providers import schema
from deskagent.tools import foreign
from deskagent.tools.base import Arguments, Context, Effect, Tool, ToolError, Wish
from deskagent.tools.mcp import content
from deskagent.tools.mcp.connection import SCHEMA, Connection, ServerError
from deskagent.tools.mcp.spec import Described

_LONGEST = 64
"""Characters of a tool's name that every provider takes."""


class Given(Arguments):
    """Whatever the server's schema says; the server checks it."""

    model_config = ConfigDict(extra="allow", frozen=True)
    told: ClassVar[Mapping[str, Any]] = {}

    @classmethod
    def model_json_schema(cls, *rest: Any, **more: Any) -> dict[str, Any]:
        return dict(cls.told)


class ServerTool(Tool[Given]):
    """described: as it was approved. changed: called when the server describes it otherwise now."""

    connection: Connection
    described: Described
    changed: Callable[[], None]

    def wish(self, arguments: Given, context: Context) -> Wish:
        spec = self.connection.spec
        given = json.dumps(arguments.model_extra or {}, indent=2, ensure_ascii=False, sort_keys=True)
        subject = f"{self.described.name} of the MCP server {spec.name} ({spec.where}), outside of the sandbox\n{given}"
        return Wish(Effect.OUTSIDE, subject, f"mcp:{spec.fingerprint}:{self.described.digest}:{given}")

    def run(self, arguments: Given, context: Context) -> Result:
        server = self.connection.spec.name
        try:
            now = next(
                (t for t in self.connection.tools(context.cancel) if t.name == self.described.name), None
            )
            if now is None or now.digest != self.described.digest:
                self.changed()
                what = "no longer has this tool" if now is None else "describes this tool otherwise now"
                raise ToolError(
                    f"The MCP server {server} {what} than when it was approved. It wasn't called. The person looks at "
                    f"it, and approves it anew, by: deskagent mcp approve {server}"
                )
            answer, again = self.connection.call(
                self.described.name, arguments.model_extra or {}, context.cancel
            )
        except ServerError as error:
            outcome = Outcome.UNKNOWN if error.begun else Outcome.FAILED
            return Result.of(error.message, Outcome.CANCELLED if context.cancel.is_set() else outcome)
        note = (
            f"(The server {server} had ended, and was started anew: it remembers nothing.)" if again else ""
        )
        return content.result(answer, f"MCP server {server}", context, note)


def tools(
    connection: Connection, described: tuple[Described, ...], changed: Callable[[], None]
) -> list[Tool[Any]]:
    """In the order of their names, which is the same whatever order the server tells them in."""
    found: dict[str, Tool[Any]] = {}
    for each in sorted(described, key=lambda one: one.name):
        name = _name(connection.spec.name, each.name)
        words = f"{each.description.strip() or each.name}\n(A tool of the MCP server {connection.spec.name}.)"
        arguments = type("Given", (Given,), {"told": _schema(each.schema), "__module__": __name__})
        kind = type("ServerTool", (ServerTool,), {"name": name, "prompt": words, "arguments": arguments})
        tool = kind()
        tool.connection, tool.described, tool.changed = connection, each, changed
        found.setdefault(name, tool)
    return list(found.values())


def _name(server: str, tool: str) -> str:
    """With signs and of a length that providers take; a name that had to be changed ends in a digest of it."""
    name = f"mcp__{server}__{re.sub(r'[^A-Za-z0-9_-]', '_', tool)}"
    if name == f"mcp__{server}__{tool}" and len(name) <= _LONGEST:
        return name
    return f"{name[: _LONGEST - 9]}_{hashlib.sha256(tool.encode()).hexdigest()[:8]}"


def _schema(given: Mapping[str, Any]) -> dict[str, Any]:
    """In the plain form; of what is too large, or can't be made plain, that it is an object."""
    try:
        found = schema.plain(given)
        text = json.dumps(found)
    except (RecursionError, TypeError, ValueError, AttributeError):
        text = ""
    if not text or len(text) > SCHEMA:
        return {"type": "object", "properties": {}}
    return json.loads(foreign.inert(text)[0])
