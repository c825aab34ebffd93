"""A conversation as the engine's prompt formats take it."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from deskagent.messages import Answer, Said, Thinking, Used
from deskagent.providers import content, pictures, wire
from deskagent.providers.base import Ask, Choice
from deskagent.providers.content import Picture
from deskagent.providers.endpoint import Endpoint

if TYPE_CHECKING:
    from engine.prompt import Format, Image, Message, Prompt

See = Callable[[bytes], "Image"]
"""Says how large the picture in these bytes of a file is to the model."""


def prompt(ask: Ask, endpoint: Endpoint, form: Format, see: See) -> Prompt:
    """The whole request. Errors: those of `see`."""
    from engine.prompt import Prompt

    tier: Any = endpoint.effort(ask)
    choice: Any = ask.choice.value if ask.choice is not Choice.AUTO and ask.tools else None
    return Prompt(
        [*_system(ask), *_turns(ask, endpoint, see)],
        _tools(ask, endpoint),
        tier,
        choice if form.chooses else None,
        ask.schema if form.chooses else None,
    )


def head(ask: Ask, endpoint: Endpoint) -> Prompt:
    """What the request begins with, and other conversations begin with too."""
    from engine.prompt import Prompt

    tier: Any = endpoint.effort(ask)
    return Prompt(_system(ask), _tools(ask, endpoint), tier, answer=False)


def _system(ask: Ask) -> list[Message]:
    from engine.prompt import Message

    return [Message("system", ask.system)] if ask.system.strip() else []


def _tools(ask: Ask, endpoint: Endpoint) -> list[dict[str, Any]]:
    if not endpoint.capabilities.tools:
        return []
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
        }
        for tool in ask.tools
    ]


def _turns(ask: Ask, endpoint: Endpoint, see: See) -> Iterable[Message]:
    from engine.prompt import Message

    for turn in content.alternating(pictures.latest(ask.turns)):
        if isinstance(turn, Said):
            yield Message("user", _content(content.said(turn, ask, endpoint), see))
            continue
        yield _answer(turn, own=endpoint.wrote(turn.model))
        for number, used in enumerate(turn.used):
            pieces = content.result(used.result, ask, endpoint)
            yield Message("tool", _content(pieces, see), call_id=_id(used, number))


def _answer(turn: Answer, *, own: bool) -> Message:
    """own: this model wrote it, so it gets its thinking back."""
    from engine.prompt import Message

    thinking = "".join(part.text for part in turn.parts if isinstance(part, Thinking)) if own else ""
    text = turn.text if turn.text.strip() or turn.used else content.NO_ANSWER
    calls = [_call(used, number, own=own) for number, used in enumerate(turn.used)]
    return Message("assistant", text, thinking=thinking, calls=calls)


def _call(used: Used, number: int, *, own: bool) -> Any:
    """The model's own call in its own words, where its format has calls as one text of JSON."""
    from engine.prompt import Call

    call = used.call
    given = (
        wire.arguments_text(call.arguments) if own and "id" in call.raw else wire.arguments(call.arguments)
    )
    return Call(wire.tool_name(call.name), given, _id(used, number))


def _id(used: Used, number: int) -> str:
    """What ties a result to its call within an answer: the id that the model gave it, else ours."""
    given = used.call.raw.get("id")
    return given if isinstance(given, str) and given else f"{used.call.id or number}"


def _content(pieces: list[str | Picture], see: See) -> str | list[str | Image]:
    if all(isinstance(piece, str) for piece in pieces):
        return content.words(pieces)
    return [piece if isinstance(piece, str) else see(base64.b64decode(piece.data)) for piece in pieces]
