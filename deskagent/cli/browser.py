"""The server of `deskagent web`: textual-serve's, for one person in a browser of this machine.

Whoever reaches the app can do all that the person can. So every request has to name this server as its host (a page of
another site whose name leads here doesn't), must not come from another site's page, and needs the cookie that the
token in the printed address is exchanged for.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import socket
from collections.abc import Awaitable, Callable
from urllib.parse import urlencode

from aiohttp import web
from textual_serve.server import Server

from deskagent.errors import UsageError

_POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "font-src 'self' data:; connect-src 'self' {websocket}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""What the page may load: nothing of other hosts, also not the font that textual-serve's page asks for."""
_ANYWHERE = ("0.0.0.0", "::", "")
_LEAVE = 15.0
"""Seconds that the apps of open pages have to end; later they end by themselves, since nobody writes to them then."""

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def bound(host: str, port: int) -> socket.socket:
    """A socket at that address. port: 0 for any that is free. Errors: UsageError."""
    if host in _ANYWHERE:
        raise UsageError(
            f"--host {host!r} would be any address, and then it can't be told which name a browser may use.",
            hint="Name the one address of this machine that it is to be reached at.",
        )
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        made = socket.socket(family, kind)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen()  # who opens the printed address at once has to wait, not to fail
    except OSError as error:
        raise UsageError(
            f"{host}:{port} can't be served: {error.strerror or error}.", hint="Name another --port, or 0."
        ) from error
    return made


class Browser(Server):
    """command: a shell line that runs the app. at: see `bound`. told: gets the address to open, token and all."""

    def __init__(self, command: str, at: socket.socket, told: Callable[[str], None]) -> None:
        address = at.getsockname()
        host = f"[{address[0]}]" if at.family == socket.AF_INET6 else address[0]
        super().__init__(command, host, address[1], title="deskagent")
        self._socket, self._told = at, told
        self._origin = f"http://{host}:{address[1]}"
        self.public_url = self._origin
        self._token, self._cookie = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self._pages: set[asyncio.Transport | None] = set()
        self._name = f"deskagent-{address[1]}"

    def run(self) -> None:
        """Until it is interrupted. Pages that are open are closed with it, and their apps end."""
        web.run_app(self._make_app(), sock=self._socket, print=None, shutdown_timeout=_LEAVE, access_log=None)

    async def _make_app(self) -> web.Application:
        app = await super()._make_app()
        app.middlewares.append(self._guard)
        return app

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        page = request.transport
        self._pages.add(page)
        try:
            return await super().handle_websocket(request)
        finally:
            self._pages.discard(page)

    async def on_shutdown(self, app: web.Application) -> None:
        for page in tuple(self._pages):
            if page is not None:
                page.close()

    async def on_startup(self, app: web.Application) -> None:
        self._told(f"{self._origin}/?{urlencode({'token': self._token})}")

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        response = await self._answer(request, handler)
        if not response.prepared:
            response.headers["Content-Security-Policy"] = _POLICY.format(
                websocket=self._origin.replace("http:", "ws:")
            )
            response.headers["Referrer-Policy"] = "no-referrer"
            response.headers["X-Content-Type-Options"] = "nosniff"
            response.headers["Cache-Control"] = "no-store"
        return response

    async def _answer(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        origin = request.headers.get("Origin")
        if f"http://{request.host}" != self._origin or origin not in (None, self._origin):
            return web.Response(status=403, text=f"This is served at {self._origin} alone.\n")
        if request.headers.get("Sec-Fetch-Site", "none") == "cross-site" and request.path != "/":
            return web.Response(status=403, text="Another site's page asked for this.\n")
        if same(request.query.get("token", ""), self._token):
            moved = web.Response(status=303, headers={"Location": "/"})
            moved.set_cookie(self._name, self._cookie, httponly=True, samesite="Strict", path="/")
            return moved
        if not same(request.cookies.get(self._name, ""), self._cookie):
            return web.Response(status=401, text="Open the address that `deskagent web` printed.\n")
        try:
            return await handler(request)
        except web.HTTPException as error:
            return error


def same(given: str, wanted: str) -> bool:
    """Whether they are, in a time that says nothing of how much of it was right."""
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), wanted.encode())
