"""What a server's tool gave, as a result: texts made inert and marked as foreign, pictures decoded apart, in bounds."""

from __future__ import annotations

import base64
import binascii
import json
from typing import TYPE_CHECKING, Any

from deskagent.messages import Outcome, Part, Result, Text
from deskagent.tools import foreign, picture
from deskagent.tools.base import Context, ToolError
from deskagent.tools.plain import shortened

if TYPE_CHECKING:
    from mcp_types import CallToolResult

_PICTURES = 8
_LONGEST = 10_000_000
_URI = 500


def result(answer: CallToolResult, server: str, context: Context, note: str = "") -> Result:
    """note: what we have to say, before all the rest."""
    words: list[str] = []
    pictures: list[Part] = []
    for block in answer.content:
        match block.type:
            case "text":
                words.append(block.text)
            case "image" if len(pictures) < _PICTURES:
                shown = _picture(block.data, server, context)
                (words if isinstance(shown, str) else pictures).append(shown)  # type: ignore[arg-type]
            case "resource":
                words.append(_resource(block.resource))
            case "resource_link":
                words.append(
                    f"[a resource: {foreign.name(block.uri, _URI)} {foreign.name(block.name or '')}]"
                )
            case _:
                words.append(f"[{block.type}, which isn't shown]")
    if not words and not pictures and answer.structured_content is not None:
        words.append(json.dumps(answer.structured_content, ensure_ascii=False))
    outcome = Outcome.FAILED if answer.is_error else Outcome.DONE
    text = _text("\n".join(words), context)
    parts: list[Part] = [Text(note)] if note else []
    if text or not pictures:
        parts.append(Text(foreign.marked("result", server, text or "(nothing)")))
    return Result(outcome, (*parts, *pictures))


def _text(whole: str, context: Context) -> str:
    text = foreign.inert(whole[:_LONGEST])[0].strip("\n")
    shown = shortened(text)
    if shown != text:
        shown += (
            f"\n(all of it is kept with the session as {context.keep(text.encode('utf-8', 'replace'))[:12]})"
        )
    return shown


def _picture(data: str, server: str, context: Context) -> Part | str:
    try:
        if len(data) > picture.FILE:
            return "[a picture that is too large]"
        return picture.load(base64.b64decode(data, validate=True), f"a picture of {server}", context)[0]
    except (ToolError, binascii.Error, ValueError) as error:
        return f"[a picture that can't be shown: {foreign.name(str(error), 500)}]"


def _resource(resource: Any) -> str:
    name = foreign.name(str(resource.uri), _URI)
    text = getattr(resource, "text", None)
    return f"[resource {name}]\n{text}" if text is not None else f"[resource {name}: binary, not shown]"
