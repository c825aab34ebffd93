"""Conversations that reach out: MCP servers by approval, pages by permission; nothing stays behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

SMALL = Path(__file__).parents[2] / "tools" / "mcp" / "server.py"
SAID = [["text", "Done."]]


def run(agent, project: Path, *words: str):
    return agent.run([*agent.command, "run", "do it", "--output-format", "json", *words], project)


def results(server) -> list[str]:
    return [m["content"] for m in server.asked[-1]["messages"] if m["role"] == "tool"]


def test_a_projects_server_is_trusted_approved_and_called(agent, serve, project: Path) -> None:
    pytest.importorskip("mcp")
    server = serve([["call", ["mcp__small__add", {"a": 40, "b": 2}]]], SAID)
    add = ["mcp", "add", "-s", "project", "small", sys.executable, "-I", str(SMALL)]
    assert agent.run([*agent.command, *add], project).code == 0
    assert json.loads((project / ".mcp.json").read_text())["mcpServers"]["small"]["args"] == [
        "-I",
        str(SMALL),
    ]
    assert run(agent, project).code == 0
    assert "There is no tool" in results(server)[0]
    assert agent.run([*agent.command, "mcp", "approve", "small", "--yes"], project).code == 2
    assert agent.run([*agent.command, "trust"], project).code == 0
    listed = agent.run([*agent.command, "mcp", "list"], project)
    assert "not approved" in listed.stdout
    approved = agent.run([*agent.command, "mcp", "approve", "small", "--yes"], project)
    assert approved.code == 0 and "Adds two numbers." in approved.stdout
    server = serve([["call", ["mcp__small__add", {"a": 40, "b": 2}]]], SAID)
    assert run(agent, project).result["permission_denials"] == ["mcp__small__add"]
    server = serve([["call", ["mcp__small__add", {"a": 40, "b": 2}]]], SAID)
    assert run(agent, project, "--allowed-tools", "mcp__small").code == 0
    assert "\n42\n" in results(server)[0]
    assert agent.run([*agent.command, "mcp", "remove", "-s", "project", "small"], project).code == 0
    assert "small" not in agent.run([*agent.command, "mcp", "list"], project).stdout


def test_killed_in_a_call_no_server_stays_behind(agent, serve, project: Path) -> None:
    pytest.importorskip("mcp")
    serve([["call", ["mcp__small__hang", {}]]], SAID)
    mark = str(project / "mark-of-this-server")
    assert (
        agent.run(
            [*agent.command, "mcp", "add", "small", sys.executable, "-I", str(SMALL), mark], project
        ).code
        == 0
    )
    words = [*agent.command, "run", "wait", "--allowed-tools", "mcp__small"]
    child = agent.start(words, project)
    journal = agent.home / "data"
    until = time.monotonic() + 60
    while not any(b"call_begun" in path.read_bytes() for path in journal.rglob("*.jsonl")):
        assert time.monotonic() < until and child.poll() is None
        time.sleep(0.05)
    os.kill(child.pid, signal.SIGKILL)
    child.communicate()
    while any(mark in line for line in _running()):
        assert time.monotonic() < until
        time.sleep(0.05)


def _running() -> list[str]:
    return subprocess.run(
        ["ps", "-eo", "args"], capture_output=True, text=True, check=True
    ).stdout.splitlines()


def test_a_page_is_read_where_its_host_is_allowed(agent, serve, project: Path) -> None:
    class Page(BaseHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/plain")
            self.end_headers()
            self.wfile.write(b"The answer is 42.")

    with HTTPServer(("127.0.0.1", 0), Page) as pages:
        threading.Thread(target=pages.serve_forever, args=(0.02,), daemon=True).start()
        port = pages.server_address[1]
        fetch = [["call", ["fetch", {"url": f"http://127.0.0.1:{port}/"}]]]
        server = serve(fetch, SAID)
        assert run(agent, project, "--allowed-tools", "fetch").code == 0
        assert "this machine itself" in results(server)[0]
        (agent.home / "config" / "settings.toml").write_text(
            f'[fetch]\nallowed_hosts = ["127.0.0.1:{port}"]\n'
        )
        server = serve(fetch, SAID)
        assert run(agent, project).result["permission_denials"] == ["fetch"]
        server = serve(fetch, SAID)
        assert run(agent, project, "--allowed-tools", "fetch(127.0.0.1)").code == 0
        assert "The answer is 42." in results(server)[0]
        pages.shutdown()


@pytest.mark.parametrize(
    ("words", "entry"),
    [
        (["x", "cmd", "-e", "A"], {"command": "cmd", "args": ["-e", "A"], "env": {}}),
        (
            ["-e", "A=b=c", "x", "--", "npx", "-y", "p"],
            {"command": "npx", "args": ["-y", "p"], "env": {"A": "b=c"}},
        ),
        (["x", "-e", "A=b", "--", "npx", "--"], {"command": "npx", "args": ["--"], "env": {"A": "b"}}),
        (
            ["x", "https://a.b/c", "-H", "K: ${V:-v}"],
            {"type": "http", "url": "https://a.b/c", "headers": {"K": "${V:-v}"}},
        ),
        (["x", "https://u:p@a.b/c"], None),
        (["x", "https://a.b/c", "arg"], None),
        (["x", "--"], None),
        (["x"], None),
        (["a b", "cmd"], None),
        (["-e", "A", "x", "cmd"], None),
    ],
)
def test_servers_are_added_as_they_are_written(
    agent, project: Path, words: list[str], entry: dict | None
) -> None:
    done = agent.run([*agent.command, "mcp", "add", *words], project)
    file = agent.home / "config" / "mcp.json"
    if entry is None:
        assert done.code == 2 and not file.exists()
        return
    assert done.code == 0, done
    assert json.loads(file.read_text())["mcpServers"] == {"x": entry}
    assert agent.run([*agent.command, "mcp", "add", *words], project).code == 2
