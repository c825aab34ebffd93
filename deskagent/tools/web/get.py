"""Asks one address and gives what it answers: checked, in bounds of size and time, over its own redirects alone."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from deskagent import __version__
from deskagent.tools.base import ToolError
from deskagent.tools.web.address import Address, parse, resolve

if TYPE_CHECKING:
    import httpx2

REDIRECTS = 5
_HEADERS = {
    "user-agent": f"deskagent/{__version__}",
    "accept": "text/markdown, text/html;q=0.9, text/plain;q=0.8, application/json;q=0.8, */*;q=0.5",
    "accept-encoding": "gzip, deflate",
}
_CONNECT = 5.0
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Limits:
    """seconds: for all of it. body: bytes, decompressed; what is more is left out."""

    seconds: float = 30.0
    body: int = 5 << 20


@dataclass(frozen=True, slots=True)
class Answer:
    """address: that answered, after redirects. kind: its media type, without parameters, in lower case. charset: as the
    server says, or "". cut: more would have come. moved: where it leads to on another host, which wasn't asked."""

    address: Address
    status: int
    kind: str = ""
    charset: str = ""
    body: bytes = b""
    cut: bool = False
    moved: str = ""


def get(
    address: Address, allowed: Iterable[str], cancel: threading.Event, limits: Limits = Limits()
) -> Answer:
    """Errors: ToolError, in words; also when `cancel` is set."""
    allowed = tuple(allowed)
    watch = _Watch(cancel, time.monotonic() + limits.seconds)
    try:
        for _ in range(REDIRECTS + 1):
            answer = _asked(address, allowed, watch, limits)
            if isinstance(answer, Answer):
                return answer
            if answer.host != address.host or (answer.port != address.port and not _safer(address, answer)):
                return Answer(address, 0, moved=str(answer))
            if address.url.scheme == "https" and answer.url.scheme == "http":
                raise ToolError(f"{address} leads to {answer}, which isn't encrypted. It wasn't followed.")
            address = answer
    finally:
        watch.end()
    raise ToolError(f"{address.host} redirects more than {REDIRECTS} times.")


def _safer(before: Address, after: Address) -> bool:
    return before.url.scheme == "http" and after.url.scheme == "https"


def _asked(address: Address, allowed: tuple[str, ...], watch: _Watch, limits: Limits) -> Answer | Address:
    """What the address answers, or where it redirects to."""
    import httpcore2
    import httpx2

    ips = resolve(address, allowed, watch.cancel, watch.left)
    try:
        with _client(address, ips, watch) as client, client.stream("GET", address.url) as response:
            if response.is_redirect:
                return _next(address, response)
            body, cut = _body(response, limits.body)
            if watch.why:  # an end that we made looks like any other
                raise ToolError(watch.why)
            kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            return Answer(address, response.status_code, kind, response.charset_encoding or "", body, cut)
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError) as error:
        raise ToolError(watch.why or f"{address.host} can't be read: {_words(error)}.") from error
    except (httpcore2.NetworkError, httpcore2.TimeoutException, httpcore2.ProtocolError) as error:
        raise ToolError(watch.why or f"{address.host} can't be read: {_words(error)}.") from error


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:300].rstrip(": ").rstrip(".")


def _next(address: Address, response: httpx2.Response) -> Address:
    import httpx2

    try:
        return parse(str(address.url.join(response.headers["location"])))
    except (httpx2.InvalidURL, UnicodeError, ValueError) as error:
        raise ToolError(f"{address.host} redirects to what is no address: {error}.") from None
    except ToolError as error:
        raise ToolError(f"{address.host} redirects where nothing is fetched. {error}") from None


def _body(response: httpx2.Response, most: int) -> tuple[bytes, bool]:
    pieces, size = [], 0
    for piece in response.iter_bytes(_CHUNK):
        pieces.append(piece)
        size += len(piece)
        if size > most:
            return b"".join(pieces)[:most], True
    return b"".join(pieces), False


@dataclass
class _Watch:
    """Ends connections when the time is up or the call is cancelled: a server may send a byte a minute."""

    cancel: threading.Event
    until: float
    why: str = ""
    _sockets: list[socket.socket] = field(default_factory=list)
    _done: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        threading.Thread(target=self._follow, name="fetch", daemon=True).start()

    @property
    def left(self) -> float:
        """Seconds, at least a little."""
        return max(0.1, self.until - time.monotonic())

    def add(self, connected: socket.socket) -> None:
        self._sockets.append(connected)
        if self.why:
            self._shut()

    def _follow(self) -> None:
        while not self._done.wait(0.1):
            if self.cancel.is_set():
                self.why = "The call was cancelled."
            elif time.monotonic() > self.until:
                self.why = "It took too long: the server sends too little, or nothing."
            if self.why:
                self._shut()

    def _shut(self) -> None:
        for each in list(self._sockets):
            with contextlib.suppress(OSError):  # closed already, as is wanted
                each.shutdown(socket.SHUT_RDWR)

    def end(self) -> None:
        self._done.set()


@contextlib.contextmanager
def _client(address: Address, ips: list[str], watch: _Watch) -> Iterator[httpx2.Client]:
    """A client that connects to these addresses, whatever the name resolves to by then. No cookies, no proxies: what a
    proxy resolves a name to can't be checked."""
    import httpcore2
    import httpx2

    class Checked(httpcore2.NetworkBackend):
        def connect_tcp(
            self,
            host: str,
            port: int,
            timeout: float | None = None,
            local_address: str | None = None,
            socket_options: Any = None,
        ) -> httpcore2.NetworkStream:
            last: Exception | None = None
            for ip in ips:
                if watch.why or watch.cancel.is_set():
                    break
                try:
                    stream = httpcore2.SyncBackend().connect_tcp(ip, port, min(_CONNECT, watch.left))
                except (httpcore2.NetworkError, httpcore2.TimeoutException) as error:
                    last = error
                    continue
                watch.add(stream.get_extra_info("socket"))
                return stream
            raise last or httpcore2.ConnectError("no connection")

    class Transport(httpx2.BaseTransport):
        def handle_request(self, request: httpx2.Request) -> httpx2.Response:
            url = request.url
            answer = pool.handle_request(
                httpcore2.Request(
                    request.method,
                    httpcore2.URL(
                        scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
                    ),
                    headers=request.headers.raw,
                    extensions=request.extensions,
                )
            )
            return httpx2.Response(answer.status, headers=answer.headers, stream=_Stream(answer))

    class _Stream(httpx2.SyncByteStream):
        def __init__(self, answer: httpcore2.Response) -> None:
            self._answer = answer

        def __iter__(self) -> Iterator[bytes]:
            yield from self._answer.iter_stream()

        def close(self) -> None:
            self._answer.close()

    secure = ssl.create_default_context() if address.url.scheme == "https" else None
    with httpcore2.ConnectionPool(ssl_context=secure, network_backend=Checked()) as pool:
        timeout = httpx2.Timeout(watch.left + _CONNECT)  # the watch ends it, in its own words
        with httpx2.Client(transport=Transport(), headers=_HEADERS, timeout=timeout) as client:
            yield client
