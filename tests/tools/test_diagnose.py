"""What an edit broke is told with its result, by real ruff and real language servers, and nothing else is."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from deskagent.terminal.sandbox import Unconfined, find_sandbox
from deskagent.terminal.types import Policy, Rung
from deskagent.tools.base import Context
from deskagent.tools.diagnose import look as looking
from deskagent.tools.diagnose.found import MOST, Problem, new, told
from deskagent.tools.diagnose.look import Looker
from deskagent.tools.diagnose.programs import SERVERS, Speaks, search_path

BIN = str(Path(sys.executable).parent)
BEFORE = b"import os\nold = gone\ndef f(x: int) -> int:\n    return x\n"
AFTER = b"import os\n\n\nold = gone\ndef f(x: int) -> int:\n    return y\n"
SANDBOX = find_sandbox()
confined = pytest.mark.skipif(SANDBOX.rung is Rung.NONE, reason="no sandbox on this machine")

SERVER = r"""
import json, sys
def send(body):
    data = json.dumps({"jsonrpc": "2.0", **body}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
    sys.stdout.buffer.flush()
while True:
    size = 0
    while (line := sys.stdin.buffer.readline().strip()):
        if line.lower().startswith(b"content-length:"):
            size = int(line.split(b":")[1])
    if not size:
        break
    asked = json.loads(sys.stdin.buffer.read(size))
    MODE
    if asked.get("method") == "initialize":
        send({"id": asked["id"], "result": {"capabilities": {"textDocumentSync": 1}}})
    document = asked.get("params", {}).get("textDocument", {})
    changes = asked.get("params", {}).get("contentChanges") or [document]
    if asked.get("method", "").startswith("textDocument/did"):
        lines = changes[0]["text"].split("\n")
        found = [{"range": {"start": {"line": n, "character": 0}, "end": {"line": n, "character": 1}},
                  "severity": 1, "message": text} for n, text in enumerate(lines) if "bad" in text]
        params = {"uri": document["uri"], "version": document["version"], "diagnostics": found}
        send({"method": "textDocument/publishDiagnostics", "params": params})
"""


@pytest.fixture
def at_work(context: Context, project: Path) -> Context:
    env = {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "HOME": str(Path.home())}
    return replace(context, sandbox=SANDBOX, policy=Policy(writable=(project,)), env=env)


@pytest.fixture
def looker(project: Path):
    made = Looker(project, lambda: True, seconds=60)
    yield made
    made.close()


@pytest.fixture
def serves(project: Path, monkeypatch: pytest.MonkeyPatch):
    """Files *.x have a server of the project's own, which finds `bad` lines."""

    def install(mode: str = "pass") -> None:
        folder = project / ".venv/bin"
        folder.mkdir(parents=True)
        program = folder / "x-server"
        program.write_text(f"#!{sys.executable}\n{SERVER.replace('MODE', mode)}")
        program.chmod(0o755)
        monkeypatch.setattr(looking, "SERVERS", {**SERVERS, ".x": (Speaks(("x-server",), "x"),)})

    return install


def running(project: Path) -> list[bytes]:
    """Command lines that name the project."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if str(project).encode() in (line := entry.read_bytes()):
                found.append(line)
    return found


def problem(line: int, message: str = "m") -> Problem:
    return Problem(line, message, "C", "lint")


def test_only_what_an_edit_brought_is_new() -> None:
    old, text = "a\nb\nc\n", "a\nx\ny\nb2\nc\n"
    assert new([problem(3)], [problem(5)], old, text) == []  # moved down with its line
    assert new([problem(2)], [problem(4)], old, text) == []  # on the line that changed, as before
    assert new([problem(2)], [problem(2), problem(4)], old, text) == [problem(4)]
    assert new([], [problem(2, "n"), problem(1)], old, text) == [problem(1), problem(2, "n")]
    assert new([problem(1), problem(2)], [], old, text) == []
    assert told("a.py", [problem(n) for n in range(MOST + 2)]).endswith("(2 more)")


def test_ruff_tells_new_errors_by_rules_of_its_own_where_a_folder_is_not_trusted(
    at_work: Context, project: Path
) -> None:
    (project / "ruff.toml").write_text('[lint]\nselect = ["ALL"]\n')
    said = Looker(project, lambda: False, seconds=60).look({"a.py": (BEFORE, AFTER)}, at_work)
    assert said == "New problems after this change:\na.py:6: Undefined name `y` (ruff F821)"
    assert Looker(project, lambda: False).look({"a.py": (AFTER, BEFORE)}, at_work) == ""
    assert Looker(project, lambda: False).look({"a.py": (AFTER, None), "b.txt": (b"", b"x")}, at_work) == ""


@confined
@pytest.mark.skipif(shutil.which("node") is None, reason="pyright needs node")
def test_pyright_tells_of_types_in_a_trusted_folder(at_work: Context, project: Path, looker: Looker) -> None:
    wrong = BEFORE + b"f('a')\n"
    (project / "a.py").write_bytes(wrong)
    said = looker.look({"a.py": (BEFORE, wrong)}, at_work)
    assert "a.py:5" in said and "reportArgumentType" in said and "gone" not in said
    assert looker.look({"a.py": (wrong, BEFORE)}, at_work) == ""


@confined
def test_a_projects_own_server_runs_where_it_is_trusted_alone(
    at_work: Context, project: Path, looker: Looker, serves
) -> None:
    serves()
    changes = {"a.x": (b"bad one\n", b"good\nbad one\nbad two\n")}
    assert looker.look(changes, at_work) == "New problems after this change:\na.x:3: bad two (x-server)"
    assert Looker(project, lambda: False).look(changes, at_work) == ""
    assert looker.look(changes, replace(at_work, sandbox=Unconfined())) == ""


@confined
@pytest.mark.parametrize(
    "mode", ["sys.exit(3)", "import time; time.sleep(600)", "print('rubbish', flush=True)"]
)
def test_a_server_that_fails_or_hangs_costs_no_more_than_its_time(
    at_work: Context, project: Path, serves, mode: str
) -> None:
    serves(mode)
    looker = Looker(project, lambda: True, seconds=2)
    began = time.monotonic()
    assert looker.look({"a.x": (b"", b"bad\n")}, at_work) in (
        "",
        "New problems after this change:\na.x:1: bad (x-server)",
    )
    looker.close()
    assert time.monotonic() - began < 60
    deadline = time.monotonic() + 60
    while running(project):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_path_without_trust_holds_nothing_of_the_project(project: Path) -> None:
    env = {"PATH": f"{project}/.venv/bin:/usr/bin:relative"}
    assert search_path(project, env, trusted=False) == "/usr/bin"
    assert search_path(project, env, trusted=True).startswith(f"{project}/.venv/bin:")


def test_it_can_be_switched_off() -> None:
    assert looking.wanted({}) and not looking.wanted({"DESKAGENT_DIAGNOSTICS": "off"})
