"""A server of pages on this machine, which the person's settings allow, and one that they don't name."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

Reply = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Pages:
    """at: replies by path. asked: the paths and headers of requests so far."""

    port: int = 0
    at: dict[str, Reply] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def gives(
        self, path: str, body: bytes | str, kind: str = "text/html", status: int = 200, **headers: str
    ) -> str:
        """Sets what a path answers, and gives its address. An empty kind is not sent."""
        data = body.encode() if isinstance(body, str) else body

        def reply(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(status)
            if kind:
                handler.send_header("content-type", kind)
            for name, value in headers.items():
                handler.send_header(name.replace("_", "-"), value)
            handler.send_header("content-length", str(len(data)))
            handler.end_headers()
            handler.wfile.write(data)

        self.at[path] = reply
        return self.url(path)

    def leads(self, path: str, to: str, status: int = 302) -> str:
        return self.gives(path, "", status=status, location=to)


def _serve(pages: Pages) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            pages.asked.append((self.path, dict(self.headers)))
            try:
                pages.at[self.path](self)
            except OSError:
                self.close_connection = True  # who asked has gone

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    pages.port = server.server_address[1]
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    return server


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pages]:
    monkeypatch.setenv("DESKAGENT_HOME", str(tmp_path / "home"))
    pages = Pages()
    server = _serve(pages)
    config = tmp_path / "home" / "config"
    config.mkdir(parents=True)
    allowed = f'["127.0.0.1:{pages.port}", "localhost:{pages.port}"]'
    (config / "settings.toml").write_text(f"[fetch]\nallowed_hosts = {allowed}\n")
    yield pages
    server.shutdown()
    server.server_close()


@pytest.fixture
def hidden(pages: Pages) -> Iterator[Pages]:
    """On this machine too, and nobody's permission names it."""
    other = Pages()
    server = _serve(other)
    yield other
    server.shutdown()
    server.server_close()
