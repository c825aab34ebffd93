"""Conversations to segments in the format of Kimi K2's and Kimi-Linear's instruct models, which don't think.

message ::= <im_user | im_assistant | im_system> name or role <im_middle> body <im_end>
calls   ::= <section_begin> (<call_begin> functions.NAME:NUMBER <argument_begin> JSON <call_end>)* <section_end>
Tools are declared in a message named tool_declare; a result names the id of its call. Ids are numbered through the
whole conversation, from 0. A conversation without a system's message gets none put in.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Sequence

from engine.errors import RequestError
from engine.prompt.messages import Call, Image, Message, Prompt
from engine.prompt.results import Result, ordered
from engine.prompt.segments import Segment, joined, json_of, parts


class Turn(enum.Enum):
    """The markers, by the name that vocabularies give them."""

    USER = "<|im_user|>"
    ASSISTANT = "<|im_assistant|>"
    SYSTEM = "<|im_system|>"
    MIDDLE = "<|im_middle|>"
    END = "<|im_end|>"
    CALLS = "<|tool_calls_section_begin|>"
    CALLS_END = "<|tool_calls_section_end|>"
    CALL = "<|tool_call_begin|>"
    ARGUMENTS = "<|tool_call_argument_begin|>"
    CALL_END = "<|tool_call_end|>"


_WHOSE = {"user": Turn.USER, "assistant": Turn.ASSISTANT}
_ID = re.compile(r"functions\.(.+):(\d{1,6})", re.DOTALL | re.ASCII)


def render(prompt: Prompt) -> list[Segment]:
    """The prompt's segments, no two texts in a row. The tier says nothing here, and earlier thinking is left out.
    Errors: RequestError for what the format can't say."""
    if prompt.tool_choice is not None or prompt.response is not None:
        raise RequestError(
            "this checkpoint's prompt format has no words for tool_choice and response: constrain the answer"
        )
    return list(joined(_prompt(prompt)))


def tool_of(id: str) -> str | None:
    """The tool that a call's id names, None where it is no id of this format."""
    found = _ID.fullmatch(id)
    return None if found is None else found[1]


def _prompt(prompt: Prompt) -> Iterator[Segment]:
    if prompt.tools:
        yield from _message(Turn.SYSTEM, "tool_declare", json_of(prompt.tools, compact=True))
    number, ids = 0, []
    for message in ordered(prompt.messages):
        if isinstance(message, Result):
            known = None if message.place is None else ids[message.place]
            answers = known or _id(message.name, message.message.call_id, number)
            yield from _message(
                Turn.SYSTEM, message.name, f"## Return of {answers}\n", *_body(message.message)
            )
            continue
        if message.tools:
            raise RequestError("this checkpoint's prompt format declares all tools at its start")
        body = list(_body(message))
        if message.role == "assistant":
            ids = [_id(call.name, call.id, number + place) for place, call in enumerate(message.calls)]
            number += len(ids)
            body += _calls(message.calls, ids)
        yield from _message(_WHOSE.get(message.role, Turn.SYSTEM), message.name or message.role, *body)
    if prompt.answer:
        yield from (Turn.ASSISTANT, "assistant", Turn.MIDDLE)


def _message(whose: Turn, name: str, *body: Segment) -> Iterator[Segment]:
    yield from (whose, name, Turn.MIDDLE, *body, Turn.END)


def _body(message: Message) -> Iterator[Segment]:
    for part in parts(message.content):
        if isinstance(part, Image):
            raise RequestError("this checkpoint's prompt format has no pictures")
        yield part


def _calls(calls: Sequence[Call], ids: list[str]) -> Iterator[Segment]:
    if not calls:
        return
    yield Turn.CALLS
    for call, id in zip(calls, ids, strict=True):
        given = call.arguments
        yield from (Turn.CALL, id, Turn.ARGUMENTS)
        yield given if isinstance(given, str) else json_of(given)
        yield Turn.CALL_END
    yield Turn.CALLS_END


def _id(name: str, given: str | None, number: int) -> str:
    """The id that the model gave, else one as it would have."""
    return given if given is not None and tool_of(given) == name else f"functions.{name}:{number}"
