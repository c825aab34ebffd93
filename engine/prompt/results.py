"""Which call a tool's result answers, and in which order results stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from engine.errors import RequestError
from engine.prompt.messages import Call, Message


@dataclass(frozen=True, slots=True)
class Result:
    """name: of the tool. index: among the results since the last assistant's message, from 1. place: of the call among
    that message's, None where none is known."""

    message: Message
    name: str
    index: int
    place: int | None


def ordered(messages: Iterable[Message]) -> Iterator[Message | Result]:
    """The messages, those of tools as results: in the order of their calls where each names one, else as they come.
    Errors: RequestError for a result whose tool nobody tells."""
    calls: Sequence[Call] = ()
    waiting: list[Message] = []
    index = 0
    for message in messages:
        if message.role == "tool":
            waiting.append(message)
            continue
        index = yield from _results(waiting, calls, index)
        waiting = []
        if message.role == "assistant":
            calls, index = message.calls, 0
        yield message
    yield from _results(waiting, calls, index)


def _results(waiting: list[Message], calls: Sequence[Call], index: int) -> Iterator[Result]:
    """Returns the last index."""
    ids = [call.id for call in calls if call.id is not None]
    if waiting and all(message.call_id in ids for message in waiting):
        places = {call.id: place for place, call in reversed(list(enumerate(calls)))}
        for known in dict.fromkeys(ids):
            for message in waiting:
                if message.call_id == known:
                    index += 1
                    yield Result(message, calls[places[known]].name, index, places[known])
        return index
    for message in waiting:
        index += 1
        place = index - 1 if index <= len(calls) else None
        name = message.name
        if name is None:
            if place is None:
                raise RequestError(
                    "a tool's result belongs to no call: give it the call's id, or the tool's name"
                )
            name = calls[place].name
        elif place is not None and calls[place].name != name:
            place = None
        yield Result(message, name, index, place)
    return index
