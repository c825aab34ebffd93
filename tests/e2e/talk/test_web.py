"""The app in a browser: reached with its token alone, from its own page alone; real HTTP and websockets."""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

aiohttp = pytest.importorskip("aiohttp")

WAIT = 120.0


@dataclass
class Web:
    """url: the printed one, token and all. origin: without."""

    url: str
    process: subprocess.Popen[str]

    @property
    def origin(self) -> str:
        return self.url.partition("/?")[0]


@pytest.fixture
def web(agent, serve, project: Path) -> Iterator[Web]:
    serve([["text", "A word."]])
    process = subprocess.Popen(
        [*agent.command, "web", "--port", "0"],
        cwd=project,
        env=agent.env(PYTHONUNBUFFERED="1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    found = re.search(r"http://\S+", process.stdout.readline())
    assert found, "no address was printed"
    yield Web(found[0], process)
    process.send_signal(signal.SIGTERM)
    try:
        assert process.communicate(timeout=WAIT)[1] == ""
    except subprocess.TimeoutExpired:
        process.kill()
        raise


def browse(work: Callable[[Any], Any]) -> Any:
    """`work` with a client that keeps cookies, also those of an address."""

    async def go() -> Any:
        jar = aiohttp.CookieJar(unsafe=True)
        async with aiohttp.ClientSession(cookie_jar=jar) as client:
            return await work(client)

    return asyncio.run(asyncio.wait_for(go(), WAIT))


def test_nothing_is_served_without_the_token_or_to_other_pages(web: Web) -> None:
    async def work(client) -> None:
        async def status(path: str, **more: Any) -> int:
            async with client.get(web.origin + path, allow_redirects=False, **more) as response:
                return response.status

        paths = ("/", "/ws", "/static/js/textual.js", "/download/x", "/nothing")
        for path in paths:
            assert await status(path) == 401, path
        assert await status("/?token=wrong") == await status("/?token=") == 401
        assert await status("/?token=%ff%00ü") == 401
        assert await status("/", cookies={f"deskagent-{web.origin.rpartition(':')[2]}": "wrong"}) == 401
        # Another site whose name leads here, with the right token.
        query = web.url.removeprefix(web.origin)
        for host in ("evil.example", "evil.example:80", web.origin[7:] + ".evil.example", "localhost:1", ""):
            assert await status(query, headers={"Host": host}) in (400, 403), host
        assert await status(query, headers={"Origin": "http://evil.example"}) == 403
        assert await status(query, headers={"Origin": "null"}) == 403
        client.cookie_jar.clear()
        async with client.post(web.origin + "/", data={"a": "b"}) as response:
            assert response.status == 401

    browse(work)


def test_the_token_gives_a_cookie_and_the_page_loads_nothing_of_others(web: Web) -> None:
    async def work(client) -> None:
        async with client.get(web.url) as response:
            assert response.status == 200 and str(response.url) == web.origin + "/"
            page = await response.text()
            assert f"ws://{web.origin[7:]}/ws" in page and "token" not in page
            policy = response.headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
            assert response.headers["Referrer-Policy"] == "no-referrer"
            (cookie,) = response.history[0].cookies.values()
            assert cookie["httponly"] and cookie["samesite"] == "Strict"
            assert cookie.value not in web.url
        async with client.get(web.origin + "/static/js/textual.js") as response:
            assert response.status == 200
        async with client.get(
            web.origin + "/static/js/textual.js", headers={"Sec-Fetch-Site": "cross-site"}
        ) as response:
            assert response.status == 403
        for origin in ("http://evil.example", "null", f"https://{web.origin[7:]}"):
            with pytest.raises(aiohttp.WSServerHandshakeError, match="403"):
                await client.ws_connect(web.origin + "/ws", origin=origin)

    browse(work)


def test_a_conversation_by_websocket_and_its_end(web: Web, agent) -> None:
    async def work(client) -> None:
        async with client.get(web.url) as response:
            assert response.status == 200
        async with client.ws_connect(web.origin + "/ws?width=100&height=30", origin=web.origin) as socket:
            await until(socket, "Say what is to be done")
            await socket.send_json(["focus"])
            await socket.send_json(["stdin", "hello"])
            await until(socket, "hello")
            await socket.send_json(["stdin", "\r"])
            await until(socket, "A word.")
            assert processes(web.process.pid)
        while processes(web.process.pid):  # the page is closed, so its app ends
            await asyncio.sleep(0.05)

    browse(work)
    assert list(agent.home.rglob("*.jsonl")), "the session is kept"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_no_app_outlives_the_server(web: Web, number: int) -> None:
    async def work(client) -> None:
        async with client.get(web.url) as response:
            assert response.status == 200
        async with client.ws_connect(web.origin + "/ws", origin=web.origin) as socket:
            await until(socket, "Say what is to be done")
            (app,) = processes(web.process.pid)
            web.process.send_signal(number)
            while Path(f"/proc/{app}").exists():
                await asyncio.sleep(0.05)

    browse(work)


async def until(socket: Any, words: str) -> None:
    """Reads until all the words were drawn, in whatever pieces."""
    drawn = ""
    async for message in socket:
        drawn += (
            message.data.decode("utf-8", "replace") if isinstance(message.data, bytes) else str(message.data)
        )
        if words in re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", drawn):
            return
    raise AssertionError(f"{words!r} never came")


def processes(parent: int) -> list[int]:
    """The direct children."""
    path = Path(f"/proc/{parent}/task/{parent}/children")
    return [int(pid) for pid in path.read_text().split()] if path.exists() else []


def test_addresses_that_can_not_be_told_apart_are_refused(agent, project: Path) -> None:
    for host, says in (
        ("0.0.0.0", "any address"),
        ("::", "any address"),
        ("192.0.2.1", "can't be served"),
    ):
        done = agent.run([*agent.command, "web", "--port", "0", "--host", host], project)
        assert done.code == 2 and says in done.stderr, done.stderr


def test_options_of_a_conversation_are_handed_on() -> None:
    import click

    from deskagent.cli.web import _options, web

    line = [
        "-c",
        "-m",
        "a b",
        "--permission-mode",
        "plan",
        "--allowed-tools",
        "x",
        "--allowed-tools",
        "y z",
        "-r",
    ]
    with web.make_context("web", [*line, "--port", "0"]) as ctx:
        given = {name: value for name, value in ctx.params.items() if name not in ("port", "host")}
        words = _options(ctx, given)
    from deskagent.cli.tui import tui

    assert isinstance(tui, click.Command)
    again = tui.make_context("tui", words).params
    assert again == given
