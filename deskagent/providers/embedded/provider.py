"""A checkpoint as a provider: asked through the engine's process, which the first question starts."""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from deskagent import served
from deskagent.paths import cache_dir
from deskagent.providers import retry, wire
from deskagent.providers.base import Ask, Capabilities, Delta, ProviderError, Trouble
from deskagent.providers.embedded import conversation
from deskagent.providers.embedded.reads import Reads
from deskagent.providers.endpoint import Endpoint
from deskagent.providers.pumped import pumped

if TYPE_CHECKING:
    from engine.process.client import Client
    from engine.process.wire import Generate
    from engine.prompt import Format, Image, Prompt
    from engine.tokenizer import Tokenizer

_SILENCE = 600.0
"""Seconds: a slow machine reads a long prompt without a word."""
_PAGE = 64
_RAM, _DISK, _IDLE = 1 << 30, 2 << 30, 600
_SAMPLING: dict[str, float] = {"temperature": 0.6, "top_p": 0.95}
_CONFIG = 1 << 20
"""Bytes of a config.json at most."""
_LEAST = 64
"""Tokens of an answer that a prompt has to leave room for."""
_TROUBLES = {
    "LicenceError": (Trouble.NO_MODEL, "Read it, then: deskagent model add {folder} --accept-license"),
    "CapacityError": (
        Trouble.NO_MODEL,
        "Close other programs, or add it with less room: deskagent model add {folder} --context 8192",
    ),
    "CheckpointError": (Trouble.NO_MODEL, "Look into it: deskagent model verify {folder}"),
    "ConfigError": (Trouble.NO_MODEL, "Look into it: deskagent model inspect {folder}"),
    "RequestError": (Trouble.BAD_REQUEST, ""),
    "LostError": (Trouble.NETWORK, "Is there memory enough? The next request starts it anew."),
}


class Embedded:
    """A Provider. folder: of the checkpoint. more: options of the engine's process."""

    def __init__(self, endpoint: Endpoint, folder: Path, *more: str) -> None:
        self._endpoint, self._folder, self._more = endpoint, folder, more
        self._client: Client | None = None
        self._spoken: tuple[Tokenizer, Format] | None = None

    @property
    def name(self) -> str:
        return self._endpoint.name

    @property
    def capabilities(self) -> Capabilities:
        return self._endpoint.capabilities

    @property
    def pid(self) -> int | None:
        """The process that answered last."""
        return self._client.pid if self._client is not None else None

    async def stream(self, ask: Ask) -> AsyncGenerator[Delta, None]:
        async for delta in retry.persist(lambda: self._once(ask), retry.Patience(tries=2, first=0.1)):
            yield delta

    async def close(self) -> None:
        """Nothing: the process is shared, and goes when it is idle."""

    def _once(self, ask: Ask) -> AsyncIterator[Delta]:
        return pumped(lambda stop: self._answer(ask, stop), "engine")

    def _answer(self, ask: Ask, stop: threading.Event) -> Iterator[Delta]:
        """Errors: ProviderError."""
        from engine.errors import CancelledError, EngineError, LostError
        from engine.process import wire as engine_wire

        try:
            client, (tokenizer, form) = self._opened()
            pictures: list[bytes] = []
            prompt = conversation.prompt(
                ask, self._endpoint, form, lambda data: _seen(client, data, pictures)
            )
            question = self._question(ask, prompt, tokenizer, form, pictures)
            reads = Reads(form.reader(tokenizer, prompt), wire.call_ids(ask.turns))
            for message in client.generate(question, stop):
                if isinstance(message, engine_wire.Token):
                    yield from reads.take(message.token)
                else:
                    yield from reads.end(message.reason, *message.usage[:2])
        except CancelledError:
            return
        except EngineError as error:
            if isinstance(error, LostError):
                self._client = self._spoken = None  # the checkpoint may be another one by now
            raise self._failed(type(error).__name__, str(error)) from error
        except OSError as error:
            raise self._failed("LostError", f"the engine's process can't be asked: {error}") from error

    def _opened(self) -> tuple[Client, tuple[Tokenizer, Format]]:
        """Errors: EngineError, OSError."""
        from engine import tokenizer
        from engine.prompt import format_of

        if self._spoken is None:
            found = tokenizer.load(self._folder)
            self._spoken = found, format_of(found)
        if self._client is None:
            pages = 2 * -(-self.capabilities.context // _PAGE) + 8  # beginnings are kept beside what runs
            sizes = ["--pages", str(pages), "--ram", str(_RAM), "--idle", str(_IDLE)]
            kept = ["--cache", str(cache_dir() / "engine"), "--disk", str(_DISK)]
            self._client = served.client(self._folder, [*sizes, *kept, *self._more], _SILENCE)
        return self._client, self._spoken

    def _question(
        self, ask: Ask, prompt: Prompt, tokenizer: Tokenizer, form: Format, pictures: list[bytes]
    ) -> Generate:
        """Errors: ProviderError for a conversation that the context doesn't hold."""
        from engine.process.wire import Generate
        from engine.prompt import encode

        encoded = encode(form.render(prompt), tokenizer)
        able = self.capabilities
        room = able.context - len(encoded.tokens)
        if room < _LEAST:
            raise ProviderError(
                Trouble.CONTEXT,
                f"The conversation has {len(encoded.tokens)} tokens, the context of {self.name} {able.context}.",
                hint="Make it shorter: /compact.",
            )
        head = encode(form.render(conversation.head(ask, self._endpoint)), tokenizer).tokens
        return Generate(
            encoded.tokens,
            {**_SAMPLING, "seed": secrets.randbits(63)},
            min(filter(None, (ask.most, able.output, room))),
            _ends(self._folder, tokenizer, form),
            grammar=("json_schema", json.dumps(ask.schema)) if ask.schema and able.grammar else None,
            thinking=_cap(prompt, tokenizer, form),
            marks=[len(head)] if encoded.tokens[: len(head)] == head else [],
            pictures=list(zip(encoded.images, pictures, strict=True)),
        )

    def _failed(self, kind: str, words: str) -> ProviderError:
        trouble, hint = _TROUBLES.get(kind, (Trouble.BROKEN, ""))
        told = f"{words[:1].upper()}{words[1:]}"
        return ProviderError(trouble, f"{self.name}: {told}", hint=hint.format(folder=self._folder))


def _seen(client: Client, data: bytes, pictures: list[bytes]) -> Image:
    from engine.prompt import Image

    (width, height, tokens), *_ = client.measure([data])
    pictures.append(data)
    return Image(tokens, width, height)


def _cap(
    prompt: Prompt, tokenizer: Tokenizer, form: Format
) -> tuple[list[int], list[int], int | None] | None:
    """How long the prompt's tier lets it think, as the engine is told."""
    from engine.generate.thinking import CAPS
    from engine.prompt import encode

    if prompt.tier is None or not form.thinking_end:
        return None
    start, end = (encode(segments, tokenizer).tokens for segments in (form.thinking_start, form.thinking_end))
    return start, end, CAPS[prompt.tier]


def _ends(folder: Path, tokenizer: Tokenizer, form: Format) -> list[int]:
    """Tokens that end an answer: what closes its message, and what the checkpoint says. Errors: CheckpointError."""
    from engine.weights.files import read_json

    found = read_json(folder, "config.json", _CONFIG)
    text = found.get("text_config") or found
    told = text.get("eos_token_id")
    ids = told if isinstance(told, list) else [told]
    return sorted({tokenizer.marker(form.end.value), *(one for one in ids if isinstance(one, int))})
