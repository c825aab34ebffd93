"""A model behind HTTP: one provider for every API, with the API's requests and reader beside it as data."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deskagent.providers import anthropic, chat, errors, http, reading, responses, retry, sse, wire
from deskagent.providers.anthropic_stream import AnthropicReader
from deskagent.providers.base import Ask, Capabilities, Delta, ProviderError, Trouble
from deskagent.providers.chat_stream import ChatReader
from deskagent.providers.endpoint import Endpoint
from deskagent.providers.responses_stream import ResponsesReader

if TYPE_CHECKING:
    import httpx2

_MOST_ERROR = 1024 * 1024  # bytes of an error's body that are read


@dataclass(frozen=True, slots=True)
class Api:
    """path: after the base URL. request: an ask's body. reader: of a dialect and the ids that are taken."""

    path: str
    request: Callable[[Ask, Endpoint], dict[str, Any]]
    reader: Callable[..., reading.Reader]


APIS: Mapping[str, Api] = {
    "chat": Api(chat.PATH, chat.request, ChatReader),
    "responses": Api(responses.PATH, responses.request, ResponsesReader),
    "messages": Api(anthropic.PATH, anthropic.request, AnthropicReader),
}


class Remote:
    """A Provider. Errors of the constructor: UsageError for a base URL that can't be."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        timing: http.Timing = http.Timing(),  # noqa: B008
        patience: retry.Patience = retry.Patience(),  # noqa: B008
    ) -> None:
        self.endpoint = endpoint
        self._api = APIS[endpoint.dialect.api]
        self._base = http.base_url(endpoint.base or endpoint.dialect.base, key=bool(endpoint.key))
        self._timing, self._patience = timing, patience
        self._client: tuple[asyncio.AbstractEventLoop, httpx2.AsyncClient] | None = None

    @property
    def name(self) -> str:
        return self.endpoint.name

    @property
    def capabilities(self) -> Capabilities:
        return self.endpoint.capabilities

    async def stream(self, ask: Ask) -> AsyncGenerator[Delta, None]:
        body = wire.encode(self._api.request(ask, self.endpoint))
        taken = wire.call_ids(ask.turns)
        try:
            async for delta in retry.persist(lambda: self._once(body, taken), self._patience):
                yield delta
        except ProviderError as error:
            if error.trouble is not Trouble.NO_MODEL:
                raise
            raise errors.unknown_model(error, self.endpoint, await self._known()) from None

    async def models(self) -> list[str]:
        """The names of the models that the server has. Errors: ProviderError."""
        try:
            async with asyncio.timeout(self._timing.connect):
                response = await self._send("GET", "/models")
        except TimeoutError:
            raise self._silent(self._timing.connect) from None
        try:
            body = await self._body(response)
        finally:
            await response.aclose()
        if response.status_code != 200:
            raise errors.answered(response.status_code, body, self.endpoint)
        try:
            return [str(one["id"]) for one in json.loads(body)["data"]]
        except (ValueError, KeyError, TypeError):
            shown = body[:200].decode("utf-8", "replace")
            raise reading.broken("The server's list of models can't be read", shown) from None

    async def close(self) -> None:
        if self._client and self._client[0] is asyncio.get_running_loop():
            await self._client[1].aclose()
        self._client = None

    async def _known(self) -> list[str]:
        try:
            return await self.models()
        except ProviderError:
            return []

    async def _once(self, body: bytes, taken: frozenset[str]) -> AsyncIterator[Delta]:
        """One try."""
        reader = self._api.reader(self.endpoint.dialect, taken)
        try:
            async with asyncio.timeout(self._timing.first):
                response = await self._send("POST", self._api.path, body)
        except TimeoutError:
            raise self._silent(self._timing.first) from None
        try:
            kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            if response.status_code != 200 or kind == "application/json":
                said = await self._body(response)
                if response.status_code == 200:
                    raise self._unstreamed(said)
                raise errors.answered(
                    response.status_code, said, self.endpoint, retry.after(response.headers)
                )
            async for delta in self._read(response, reader):
                yield delta
        finally:
            await response.aclose()

    async def _read(self, response: httpx2.Response, reader: reading.Reader) -> AsyncIterator[Delta]:
        """The deltas of a stream. What came of it goes with an error."""
        parser, raw, pieces = sse.Parser(), bytearray(), response.aiter_raw()
        try:
            while not reader.done and (piece := await self._piece(pieces, reader)):
                raw += piece
                for event in parser.feed(piece):
                    for delta in reader.take(event):
                        yield delta
            for delta in reader.end(bytes(raw)):
                yield delta
        except sse.TooLong:
            raise ProviderError(
                Trouble.BROKEN, "The server sent an event of over 64 MB.", raw=bytes(raw)
            ) from None
        except ProviderError as error:
            error.raw = bytes(raw)
            raise

    async def _piece(self, pieces: AsyncIterator[bytes], reader: reading.Reader) -> bytes:
        """The next bytes, b"" at the end. Once the answer is whole, nothing that fails matters any more."""
        import httpx2

        try:
            async with asyncio.timeout(self._timing.grace if reader.whole else self._timing.stall):
                async for piece in pieces:
                    if piece:
                        return piece
                return b""
        except TimeoutError:
            if reader.whole:
                return b""
            raise self._silent(self._timing.stall) from None
        except httpx2.HTTPError as error:
            if reader.whole:
                return b""
            raise http.failed(error, self._base) from None

    async def _send(self, method: str, path: str, body: bytes | None = None) -> httpx2.Response:
        import httpx2

        endpoint = self.endpoint
        headers = {"content-type": "application/json", **endpoint.dialect.headers, **endpoint.headers}
        if endpoint.key:
            bearer = endpoint.dialect.auth == "authorization"
            headers[endpoint.dialect.auth] = f"Bearer {endpoint.key}" if bearer else endpoint.key
        client = self._connections()
        try:
            request = client.build_request(method, self._base + path, content=body, headers=headers)
            return await client.send(request, stream=True)
        except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeEncodeError) as error:
            raise http.failed(error, self._base) from None

    async def _body(self, response: httpx2.Response) -> bytes:
        import httpx2

        found = bytearray()
        try:
            async with asyncio.timeout(self._timing.connect):
                async for piece in response.aiter_bytes():
                    found += piece
                    if len(found) > _MOST_ERROR:
                        break
        except (TimeoutError, httpx2.HTTPError):
            pass  # the status says enough
        return bytes(found)

    def _connections(self) -> httpx2.AsyncClient:
        """The client of the running loop: connections can't be shared between loops."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._client[0] is not loop:
            self._client = (loop, http.client(self._base, self._timing))
        return self._client[1]

    def _silent(self, seconds: float) -> ProviderError:
        return ProviderError(
            Trouble.NETWORK,
            f"{self.endpoint.provider} said nothing for {seconds:g} seconds.",
            hint="A small machine may need longer for a long prompt.",
        )

    def _unstreamed(self, said: bytes) -> ProviderError:
        """What came instead of a stream: an error that a proxy sent as a success, or an answer in one piece."""
        if b'"error"' in said:
            return errors.answered(400, said, self.endpoint)
        return reading.broken("The server doesn't stream", said[:200].decode("utf-8", "replace"))
