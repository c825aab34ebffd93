"""A server that is talked to: started with the first call, started anew after it died, ended with the conversation."""

from __future__ import annotations

import concurrent.futures
import contextlib
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deskagent import __version__
from deskagent.errors import DeskagentError
from deskagent.terminal import spawn
from deskagent.terminal.environment import base_env
from deskagent.terminal.process import Process
from deskagent.terminal.sandbox import Unconfined
from deskagent.terminal.types import Command, Limits, Policy
from deskagent.tools import foreign
from deskagent.tools.mcp.spec import Described, Spec

if TYPE_CHECKING:
    from mcp_types import CallToolResult

START = 30.0
STARTS = 5
"""Seconds until a server has told its tools; how often one is started in a conversation."""
TOOLS, SCHEMA, WORDS = 128, 20_000, 4000
"""Tools of a server, characters of a tool's schema and of its description, that are taken."""


class ServerError(DeskagentError):
    """begun: whether the call reached the server, so that nobody knows what it did."""

    def __init__(self, message: str, *, begun: bool = False) -> None:
        super().__init__(message)
        self.begun = begun


@dataclass
class _Live:
    """A server that runs. close: ends it. again: it ran before, and whoever calls it next hasn't
    been told that it forgot everything."""

    portal: Any
    close: Callable[[], None]
    task: concurrent.futures.Future[None]
    process: Process | None
    client: Any = None
    tools: tuple[Described, ...] = ()
    again: bool = False


class Connection:
    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self._live: _Live | None = None
        self._lock = threading.Lock()
        self._starts = 0

    def tools(self, cancel: threading.Event | None = None) -> tuple[Described, ...]:
        """What the server says of its tools; it is started where it doesn't run. Errors: ServerError."""
        return self._running(cancel or threading.Event()).tools

    def call(
        self, tool: str, arguments: Mapping[str, Any], cancel: threading.Event
    ) -> tuple[CallToolResult, bool]:
        """The result, and whether the server was started anew for it. Errors: ServerError."""
        live = self._running(cancel)
        again, live.again = live.again, False
        future = live.portal.start_task_soon(live.client.call_tool, tool, dict(arguments))
        until = time.monotonic() + self.spec.seconds
        why = ""
        while not concurrent.futures.wait([future], timeout=0.1).done:
            if cancel.is_set():
                why = "The call was cancelled; what it did by then is not known."
            elif time.monotonic() > until:
                why = f"It didn't answer in {self.spec.seconds:g} s, and was ended. What it did is not known."
            elif live.task.done():
                why = f"It ended while it was called; what it did is not known.{self._last(live)}"
            if why:
                future.cancel()
                if not cancel.is_set():
                    self._end(live)
                raise self._error(f": {why}", begun=True)
        try:
            return future.result(), again
        except Exception as error:  # of the library, of the server's words, of the network
            gone = live.process is not None and live.process.wait(0.5) is not None
            last = self._last(live)
            if gone or live.process is None:
                self._end(live)
            raise self._error(f": {_words(error)}.{last}", begun=gone) from error

    def close(self) -> None:
        with self._lock:
            if self._live is not None:
                self._shut(self._live)
                self._live = None

    def _end(self, live: _Live) -> None:
        with self._lock:
            if self._live is live:
                self._live = None
            self._shut(live)

    def _running(self, cancel: threading.Event) -> _Live:
        with self._lock:
            live = self._live
            dead = live is not None and (
                live.task.done() or (live.process is not None and live.process.wait(0) is not None)
            )
            if live is not None and not dead:
                return live
            if live is not None:
                self._live = None
                self._shut(live)
            if self._starts >= STARTS:
                raise ServerError(
                    f"MCP server {self.spec.name} was started {STARTS} times, and isn't any more."
                )
            again = self._starts > 0
            self._starts += 1
            self._live = self._started(cancel)
            self._live.again = again
            return self._live

    def _started(self, cancel: threading.Event) -> _Live:
        try:
            import mcp  # noqa: F401
            from anyio.from_thread import start_blocking_portal
        except ImportError as error:
            raise ServerError("MCP servers need one package more: pip install 'deskagent[mcp]'.") from error
        stack = contextlib.ExitStack()
        process = self._process() if self.spec.command else None
        portal = stack.enter_context(start_blocking_portal())
        ready, stop = threading.Event(), threading.Event()
        live = _Live(portal, stop.set, None, process)  # type: ignore[arg-type]
        live.task = portal.start_task_soon(self._serve, live, ready)

        def close() -> None:
            live.task.cancel()
            concurrent.futures.wait([live.task], timeout=5)
            if process is not None:
                process.terminate()
                process.wait(2)
                process.close()
            portal.call(portal.stop, True)
            stack.close()

        live.close = close
        until = time.monotonic() + START
        while not ready.wait(0.05):
            why = ""
            if live.task.done():
                error = None if live.task.cancelled() else live.task.exception()
                why = f"can't be started: {_words(error)}." if error else "ended at once."
            elif cancel.is_set():
                why = "wasn't started: the call was cancelled."
            elif time.monotonic() > until:
                why = f"didn't tell its tools in {START:g} s, and was ended."
            if why:
                last = self._last(live)
                self._shut(live)
                raise self._error(f" {why}{last}")
        return live

    def _process(self) -> Process:
        spec = self.spec
        return spawn.start(
            Command((spec.command, *spec.args), spec.cwd, base_env(spec.env)),
            sandbox=Unconfined(),
            policy=Policy(),
            limits=Limits(seconds=None),
        )

    async def _serve(self, live: _Live, ready: threading.Event) -> None:
        import anyio
        import mcp_types
        from mcp import Client

        async with contextlib.AsyncExitStack() as stack:
            if live.process is not None:
                from deskagent.tools.mcp.piped import piped

                transport = piped(live.process)
            else:
                import httpx2
                from mcp.client.streamable_http import streamable_http_client

                http = await stack.enter_async_context(
                    httpx2.AsyncClient(
                        headers=dict(self.spec.headers),
                        timeout=httpx2.Timeout(self.spec.seconds, connect=START),
                    )
                )
                transport = streamable_http_client(self.spec.url, http_client=http)
            info = mcp_types.Implementation(name="deskagent", version=__version__)
            async with Client(transport, client_info=info, cache=None) as client:
                live.tools = await _listed(client)
                live.client = client
                ready.set()
                await anyio.sleep_forever()

    def _error(self, words: str, *, begun: bool = False) -> ServerError:
        return ServerError(f"MCP server {self.spec.name}{self.spec.told(words)}", begun=begun)

    def _last(self, live: _Live) -> str:
        """The end of what it wrote into its log."""
        if live.process is None:
            return ""
        live.process.wait(0.2)
        said = foreign.inert(live.process.stderr.decode("utf-8", "replace"))[0].strip()
        return f" Its last words: {said[-600:]}" if said else ""

    @staticmethod
    def _shut(live: _Live) -> None:
        live.close()


async def _listed(client: Any) -> tuple[Described, ...]:
    found: dict[str, Described] = {}
    cursor = None
    for _ in range(20):
        page = await client.list_tools(cursor=cursor)
        for tool in page.tools:
            words = foreign.inert(tool.description or "")[0][:WORDS]
            found.setdefault(tool.name, Described(tool.name, words, tool.input_schema))
        cursor = page.next_cursor
        if not cursor or len(found) >= TOOLS:
            break
    return tuple(found.values())[:TOOLS]


def _words(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    told = foreign.name(f"{error}", 1000) or type(error).__name__
    return told.rstrip(".")
