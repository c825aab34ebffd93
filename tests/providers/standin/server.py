"""HTTP/1.1 on asyncio streams, as little as a model server needs, so that each byte of an answer can be chosen."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

_REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 429: "Too Many Requests", 529: "Overloaded"}


@dataclass(frozen=True)
class Recorded:
    """A request that came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Reply:
    """pieces: sent one by one. end: `whole` ends it as it should be, `cut` drops the connection, `hang` says no more
    until the client goes."""

    pieces: Sequence[bytes] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "text/event-stream"})
    end: str = "whole"

    @classmethod
    def error(cls, status: int, body: Any, **headers: str) -> Reply:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        return cls((text,), status, {"content-type": "application/json", **named})


Script = Callable[[Recorded], Reply] | Iterable[Reply]


class Standin:
    """`async with Standin(script) as server`: `server.url` is a base URL. requests: all that came. gone: how many
    clients left before the end."""

    def __init__(self, script: Script) -> None:
        if callable(script):
            self._answer: Callable[[Recorded], Reply] = script
        else:
            replies = iter(script)
            self._answer = lambda request: next(replies)
        self.requests: list[Recorded] = []
        self.gone = 0
        self.left = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Standin:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"
        return self

    async def __aexit__(self, *error: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        try:
            while request := await _read(reader):
                self.requests.append(request)
                if not await self._send(self._answer(request), reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            self._lost()
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _send(self, reply: Reply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Whether the connection is still good."""
        reason = _REASONS.get(reply.status, "Status")
        head = [
            f"HTTP/1.1 {reply.status} {reason}",
            *(f"{name}: {value}" for name, value in reply.headers.items()),
        ]
        writer.write(("\r\n".join([*head, "transfer-encoding: chunked"]) + "\r\n\r\n").encode())
        for piece in reply.pieces:
            if piece:
                writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            await writer.drain()
            await asyncio.sleep(0)
        if reply.end == "whole":
            writer.write(b"0\r\n\r\n")
            await writer.drain()
            return True
        if reply.end == "hang":
            await writer.drain()
            if not await reader.read(1):
                self._lost()
        return False

    def _lost(self) -> None:
        self.gone += 1
        self.left.set()


async def _read(reader: asyncio.StreamReader) -> Recorded | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    except asyncio.IncompleteReadError:
        return None
    method, path, _ = head[0].split(" ", 2)
    headers = {
        name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)
    }
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Recorded(method, path, headers, body)
