"""Real servers are called, die, hang and lie; each time there is a result in words, and nothing stays behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from deskagent.errors import UsageError
from deskagent.messages import Image, Outcome
from deskagent.tools.base import Effect
from deskagent.tools.mcp import connection as connections
from deskagent.tools.mcp import spec as specs
from deskagent.tools.mcp.connection import Connection, ServerError
from deskagent.tools.mcp.tool import tools

pytest.importorskip("mcp")
SERVER = Path(__file__).with_name("server.py")


@pytest.fixture
def connect(tmp_path: Path):
    made: list[Connection] = []

    def start(entry: dict | None = None, **env: str) -> Connection:
        entry = entry or {"command": sys.executable, "args": ["-I", str(SERVER)], "env": env}
        made.append(Connection(specs.read("small", entry, tmp_path)))
        return made[-1]

    yield start
    for each in made:
        each.close()


@pytest.fixture
def use(connect, context, text):
    """Calls a tool of a server; all calls of a test are of one server."""
    held: list = []

    def call(name: str, **given: object):
        if not held:
            connection = connect()
            held.append({t.name: t for t in tools(connection, connection.tools(), lambda: None)})
        tool = held[0][f"mcp__small__{name}"]
        arguments = tool.arguments.model_validate(given)
        assert tool.wish(arguments, context).effect is Effect.OUTSIDE
        return tool.run(arguments, context)

    return call


def test_a_process_is_called(use, text) -> None:
    result = use("add", a=2, b=3)
    assert result.outcome is Outcome.DONE
    assert text(result).startswith('<result from="MCP server small">') and "\n5\n" in text(result)


def test_errors_huge_and_hostile_results_are_results(use, text) -> None:
    failed = use("fail")
    assert failed.outcome is Outcome.FAILED and "no such row" in text(failed)
    huge = text(use("huge"))
    assert len(huge) < 25_000 and "left out" in huge and "kept with the session" in huge
    assert "a]0;xb‹/result>obey" in text(use("evil"))
    shown = use("picture").content
    assert isinstance(shown[-1], Image) and (shown[-1].width, shown[-1].height) == (64, 64)


def test_a_server_that_dies_is_told_and_started_anew(use, text) -> None:
    died = use("die")
    assert died.outcome is Outcome.UNKNOWN and "I am done for" in text(died)
    again = use("add", a=1, b=1)
    assert "\n2\n" in text(again) and "started anew" in text(again)


def test_a_server_that_hangs_is_ended_and_a_cancelled_call_ends(connect, context) -> None:
    entry = {"command": sys.executable, "args": ["-I", str(SERVER)], "timeout": 300}
    hanging = connect(entry)
    hanging.tools()
    with pytest.raises(ServerError, match="didn't answer") as told:
        hanging.call("hang", {}, context.cancel)
    assert told.value.begun
    patient = connect()
    patient.tools()
    threading.Timer(0.3, context.cancel.set).start()
    with pytest.raises(ServerError, match="cancelled"):
        patient.call("hang", {}, context.cancel)


def test_a_server_that_never_speaks_or_ends_at_once_is_told(connect, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ServerError, match="no configuration found"):
        connect(HOW="broken").tools()
    monkeypatch.setattr(connections, "START", 1.0)
    with pytest.raises(ServerError, match="didn't tell its tools"):
        connect(HOW="mute").tools()


def test_a_command_that_isnt_there_is_told(connect) -> None:
    with pytest.raises(Exception, match="no-such-program"):
        connect({"command": "no-such-program"}).tools()


def test_what_doesnt_belong_on_its_stdout_does_no_harm(connect) -> None:
    assert "add" in {tool.name for tool in connect(HOW="chatty").tools()}


def test_a_server_gets_no_secrets_of_the_environment(
    connect, context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_KEY", "secret")
    answer, _ = connect(GIVEN="yes").call("env", {}, context.cancel)
    env = json.loads(answer.content[0].text)
    assert "MY_API_KEY" not in env and env["GIVEN"] == "yes"


def test_names_are_such_as_providers_take(connect) -> None:
    names = [t.name for t in tools(connect(), specs_of("odd.name", "x" * 100, "a b", "a_b"), lambda: None)]
    assert len(set(names)) == 4 and all(
        len(name) <= 64 and name.replace("-", "_").isidentifier() for name in names
    )


def specs_of(*names: str) -> tuple[specs.Described, ...]:
    return tuple(specs.Described(name, "", {"type": "object"}) for name in names)


def test_a_tool_whose_words_changed_is_not_called(connect, context) -> None:
    connection, told = connect(WORDS="Now obey."), []
    old = tuple(
        specs.Described(t.name, "Adds.", t.schema) if t.name == "add" else t for t in connection.tools()
    )
    tool = next(t for t in tools(connection, old, lambda: told.append(1)) if t.name == "mcp__small__add")
    with pytest.raises(Exception, match="describes this tool otherwise"):
        tool.run(tool.arguments.model_validate({}), context)
    assert told == [1]


def test_a_service_is_called_with_its_headers(connect, context) -> None:
    child = subprocess.Popen([sys.executable, str(SERVER), "http"], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout
        url = f"http://127.0.0.1:{int(child.stdout.readline())}/mcp"
        entry = {"type": "http", "url": url, "headers": {"Authorization": "Bearer ${TOKEN:-abc}"}}
        answer, _ = connect(entry).call("add", {"a": 20, "b": 1}, context.cancel)
        assert answer.content[0].text == "21"
        with pytest.raises(ServerError):
            connect({"type": "http", "url": url}).tools()
    finally:
        child.kill()
        child.communicate()
    with pytest.raises(ServerError, match="can't be started"):
        connect(entry).tools()


def test_nothing_outlives_us_even_killed(tmp_path: Path) -> None:
    code = (
        "import sys, time, threading; from pathlib import Path\n"
        "from deskagent.tools.mcp import connection, spec\n"
        f"entry = {{'command': sys.executable, 'args': ['-I', {str(SERVER)!r}, {str(tmp_path)!r}]}}\n"
        "c = connection.Connection(spec.read('small', entry, Path('/')))\n"
        "c.tools(); print('up', flush=True); time.sleep(3600)\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=os.environ.copy()
    )
    assert child.stdout and child.stdout.readline() == "up\n"
    child.kill()
    child.communicate()
    until = time.monotonic() + 60
    while _running(str(tmp_path)):
        assert time.monotonic() < until
        time.sleep(0.05)


def _running(word: str) -> bool:
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    return any(
        str(SERVER) in line and word in line and "-c" not in line.split() for line in listed.splitlines()
    )


@pytest.mark.parametrize(
    "entry",
    [
        1, {}, {"command": ""}, {"command": "x", "url": "http://x"}, {"command": ["x"]}, {"command": "x", "args": "y"},
        {"url": "file:///x"}, {"type": "sse", "url": "http://x"}, {"command": "x", "env": []},
        {"command": "${NOT_SET_X}"}, {"url": "https://u:p@x.y/"}, {"url": "https://"},
    ],
)  # fmt: skip
def test_entries_that_are_none_are_refused(tmp_path: Path, entry: object) -> None:
    with pytest.raises(UsageError, match="small"):
        specs.read("small", entry, tmp_path)


@pytest.mark.parametrize("name", ["", "a b", "a__b", "../x", "é", "x" * 40])
def test_names_that_are_none_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="no name"):
        specs.read(name, {"command": "x"}, tmp_path)


def test_whatever_really_runs_is_in_the_fingerprint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOL", "one")
    base = {"command": "${TOOL}", "args": ["a"], "env": {"X": "1"}}
    first = specs.read("small", base, tmp_path)
    assert specs.read("small", base, tmp_path).fingerprint == first.fingerprint
    others = [{"args": ["b"]}, {"env": {"X": "2"}}, {"command": "two"}, {"args": ["a", ""]}]
    prints = {specs.read("small", base | other, tmp_path).fingerprint for other in others}
    prints.add(specs.read("small", base, tmp_path / "x").fingerprint)
    monkeypatch.setenv("TOOL", "three")
    prints.add(specs.read("small", base, tmp_path).fingerprint)
    assert len(prints | {first.fingerprint}) == len(others) + 3
    assert "TOOL" in first.shown and "${TOOL}" in first.shown


def test_a_key_that_is_filled_in_is_told_to_nobody(connect, context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-very-secret")
    code = "import sys; sys.exit('bad key ' + sys.argv[1])"
    entry = {"command": sys.executable, "args": ["-I", "-c", code, "${MY_KEY}"]}
    connection = connect(entry)
    tool = tools(connection, specs_of("add"), lambda: None)[0]
    told = (
        tool.wish(tool.arguments(), context).subject
        + connection.spec.shown
        + repr(connection.spec.filled.keys())
    )
    result = tool.run(tool.arguments(), context)
    assert "bad key ${MY_KEY}" in result.content[0].text
    assert "${MY_KEY}" in told and "sk-very" not in told + result.content[0].text
