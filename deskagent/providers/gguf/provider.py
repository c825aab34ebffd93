"""A GGUF as a provider: the conversation in its own chat template, thinking and calls read out of its text."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from typing import Any

from deskagent.providers import chat, retry, wire
from deskagent.providers.base import (
    Ask,
    CallDelta,
    Capabilities,
    Choice,
    Delta,
    ProviderError,
    Stop,
    Stopped,
    TextDelta,
    ThinkingDelta,
    Trouble,
    Usage,
)
from deskagent.providers.endpoint import Endpoint
from deskagent.providers.gguf.child import Child
from deskagent.providers.parts import Parts
from deskagent.providers.pumped import pumped
from deskagent.providers.thinktags import ThinkTags
from deskagent.providers.written import WrittenCalls

_TAGS = ("<think>", "</think>")
_TEMPERATURE = 0.2
_THINKING_TEMPERATURE = 0.6
_TROUBLES = {"context": Trouble.CONTEXT, "load": Trouble.NO_MODEL}
_STOPS = {"end": Stop.END, "length": Stop.LENGTH, "stopped": Stop.CUT}


class Gguf:
    """A Provider. child: the worker's process."""

    def __init__(self, endpoint: Endpoint, child: Child) -> None:
        self._endpoint, self._child = endpoint, child

    @property
    def name(self) -> str:
        return self._endpoint.name

    @property
    def capabilities(self) -> Capabilities:
        return self._endpoint.capabilities

    async def stream(self, ask: Ask) -> AsyncGenerator[Delta, None]:
        question = self._question(ask)
        patience = retry.Patience(tries=2, first=0.1)
        async for delta in retry.persist(lambda: self._once(ask, question), patience):
            yield delta

    async def close(self) -> None:
        await asyncio.to_thread(self._child.close)

    def _question(self, ask: Ask) -> dict[str, Any]:
        thinks = self._endpoint.effort(ask)
        body = chat.request(ask, self._endpoint)
        most = min(filter(None, (ask.most, self.capabilities.output)), default=None)
        return {
            "messages": body["messages"],
            "tools": body.get("tools", []) if self.capabilities.tools else [],
            "choice": str(ask.choice),
            "most": most,
            "schema": ask.schema,
            "think": thinks,
            "temperature": _TEMPERATURE if thinks is None else _THINKING_TEMPERATURE,
        }

    async def _once(self, ask: Ask, question: dict[str, Any]) -> AsyncIterator[Delta]:
        names = () if ask.choice is Choice.NONE or ask.schema else (tool.name for tool in ask.tools)
        reader = Reads(names, wire.call_ids(ask.turns))
        async for message in pumped(lambda stop: self._child.ask(question, stop), "gguf"):
            for delta in reader.take(message):
                yield delta


class Reads:
    """Makes deltas of what the worker says."""

    def __init__(self, names: Any, taken: frozenset[str]) -> None:
        self._tags, self._calls = ThinkTags(*_TAGS), WrittenCalls(names)
        self._parts = Parts(taken)
        self._raw: list[str] = []

    def take(self, message: dict[str, Any]) -> Iterator[Delta]:
        """Errors: ProviderError."""
        match message["is"]:
            case "prompt":
                yield Usage(message["tokens"], message.get("cached", 0))
            case "text":
                self._raw.append(message["text"])
                yield from self._split(self._tags.feed(message["text"]))
            case "end":
                yield from self._split(self._tags.rest())
                yield from map(self._piece, self._calls.rest())
                if "prompt" in message:
                    counts = (message[key] for key in ("prompt", "cached", "output", "thinking"))
                    yield Usage(*counts)
                stop = _STOPS.get(message["stop"], Stop.END)
                calls = self._calls.called and stop is Stop.END
                yield Stopped(Stop.CALLS if calls else stop, "".join(self._raw).encode())
            case "failed":
                trouble = _TROUBLES.get(message["kind"], Trouble.BROKEN)
                hint = "Make it shorter: /compact." if trouble is Trouble.CONTEXT else ""
                raise ProviderError(trouble, f"The model failed: {message['message']}", hint=hint)

    def _split(self, pieces: Iterator[tuple[bool, str]]) -> Iterator[Delta]:
        for thinking, text in pieces:
            if thinking:
                yield ThinkingDelta(self._parts.of("thinking"), text, _TAGS[0])
            else:
                yield from map(self._piece, self._calls.feed(text))

    def _piece(self, piece: Any) -> Delta:
        if isinstance(piece, str):
            return TextDelta(self._parts.of("text"), piece)
        name, arguments = piece
        part, made = self._parts.call()
        return CallDelta(part, made, name, arguments)
