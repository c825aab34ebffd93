"""`deskagent run` against a model's server: tasks are done, on record, and can be gone on with after anything."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pexpect
import pytest

from deskagent.terminal.sandbox import find_sandbox
from deskagent.terminal.types import Rung

READ = [["call", ["read", {"path": "calc.py"}]]]
EDIT = [["call", ["edit", {"path": "calc.py", "old": "a - b", "new": "a + b"}]]]
SAID = [["text", "The sum was a difference."]]
MODE = "full" if find_sandbox().rung is Rung.NONE else "auto"


def run(agent, project: Path, *words: str, **more: str):
    return agent.run(
        [*agent.command, "run", *words, "--output-format", "json", "--permission-mode", MODE], project, **more
    )


def test_a_task_is_done_and_can_be_taken_back(agent, serve, project: Path) -> None:
    server = serve(READ, EDIT, SAID)
    done = run(agent, project, "fix add")
    assert done.code == 0, done
    assert done.result["result"] == "The sum was a difference." and done.result["changed_files"] == [
        "calc.py"
    ]
    assert done.result["usage"]["cached_tokens"] == 180 and done.result["num_turns"] == 3
    assert "a + b" in (project / "calc.py").read_text()
    assert agent.run([*agent.command, "undo"], project).code == 0
    assert "a - b" in (project / "calc.py").read_text()
    first, second, third = (request["messages"] for request in server.asked)
    assert second[: len(first)] == first and third[: len(second)] == second


def test_a_session_is_gone_on_with_on_the_same_prefix(agent, serve, project: Path) -> None:
    server = serve([["think", "Let me see."], *READ], SAID, [["text", "As I said."]])
    first = run(agent, project, "what is wrong?")
    assert first.code == 0, first
    second = run(agent, project, "and now?", "-c")
    assert (
        second.result["session_id"] == first.result["session_id"] and second.result["result"] == "As I said."
    )
    before, after = server.asked[1]["messages"], server.asked[2]["messages"]
    assert after[: len(before)] == before and after[-1]["content"] == "and now?"
    assert any(message.get("reasoning_content") == "Let me see." for message in after)
    assert server.asked[1]["tools"] == server.asked[2]["tools"]


def test_killed_in_a_command_it_goes_on_and_says_that_the_end_was_not_seen(
    agent, serve, project: Path
) -> None:
    server = serve([["call", ["terminal", {"command": "touch begun; sleep 60"}]]], SAID)
    words = [*agent.command, "run", "wait", "--permission-mode", MODE]
    child = agent.start(words, project)
    deadline = time.monotonic() + 60
    while not (project / "begun").exists():
        assert time.monotonic() < deadline and child.poll() is None
        time.sleep(0.05)
    os.kill(child.pid, signal.SIGKILL)
    child.communicate()
    done = run(agent, project, "go on", "-c")
    assert done.code == 0, done
    results = [m["content"] for m in server.asked[1]["messages"] if m["role"] == "tool"]
    assert len(results) == 1 and "its end was not seen" in results[0]


def test_a_signal_ends_it_soon_and_leaves_nothing_running(agent, serve, project: Path) -> None:
    serve([["call", ["terminal", {"command": "touch begun; sleep 61"}]]], SAID)
    child = agent.start([*agent.command, "run", "wait", "--permission-mode", MODE], project)
    deadline = time.monotonic() + 60
    while not (project / "begun").exists():
        assert time.monotonic() < deadline and child.poll() is None
        time.sleep(0.05)
    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=60)
    assert child.returncode == 128 + signal.SIGTERM
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert "sleep 61" not in listed.splitlines()


def test_what_may_not_be_asked_is_refused_and_said(agent, serve, project: Path) -> None:
    server = serve(READ, EDIT, [["text", "I was not allowed to."]])
    done = agent.run([*agent.command, "run", "fix", "-p", "--output-format", "json"], project)
    assert done.result["permission_denials"] == ["edit"] and done.code == 0
    assert "a - b" in (project / "calc.py").read_text()
    told = [m["content"] for m in server.asked[2]["messages"] if m["role"] == "tool"]
    assert "nobody can be asked" in told[1]


def test_plan_mode_changes_nothing_whatever_the_model_tries(agent, serve, project: Path) -> None:
    if MODE == "full":
        pytest.skip("without a sandbox commands are refused before they could try")
    tries = ["echo x > calc.py", "rm calc.py", "python3 -c \"open('calc.py','w')\"", "touch new"]
    serve(READ, EDIT, *([["call", ["terminal", {"command": line}]]] for line in tries), SAID)
    words = [*agent.command, "run", "plan it", "--permission-mode", "plan", "--output-format", "json"]
    assert agent.run(words, project).code == 0
    assert sorted(p.name for p in project.iterdir()) == ["calc.py"]
    assert "a - b" in (project / "calc.py").read_text()


def test_where_only_landlock_confines_every_command_is_asked_for(agent, serve, project: Path) -> None:
    server = serve([["call", ["terminal", {"command": "touch ran"}]]], SAID)
    words = [*agent.command, "run", "try", "--permission-mode", "auto", "--output-format", "json"]
    done = agent.run(words, project, DESKAGENT_SANDBOX="landlock")
    if done.code == 2:
        pytest.skip("Landlock doesn't work here")
    assert any("Only Landlock" in notice for notice in done.result["notices"])
    told = [m["content"] for m in server.asked[1]["messages"] if m["role"] == "tool"]
    assert "nobody can be asked" in told[0] and not (project / "ran").exists()


def test_the_person_is_asked_and_heard(agent, serve, project: Path) -> None:
    server = serve(READ, EDIT, SAID)
    words = [*agent.command, "run", "fix"]
    child = pexpect.spawn(
        words[0], words[1:], cwd=str(project), env=agent.env(), encoding="utf-8", timeout=60
    )
    child.expect("return a \\+ b")
    child.expect("Make this change\\?")
    child.sendline("no, use sum()")
    child.expect("The sum was a difference")
    child.expect(pexpect.EOF)
    assert "a - b" in (project / "calc.py").read_text()
    told = [m["content"] for m in server.asked[2]["messages"] if m["role"] == "tool"]
    assert told[1] == "The person said no. They say: no, use sum()"


def test_interrupted_at_a_question_it_ends(agent, serve, project: Path) -> None:
    serve(READ, EDIT, SAID)
    words = [*agent.command, "run", "fix"]
    child = pexpect.spawn(
        words[0], words[1:], cwd=str(project), env=agent.env(), encoding="utf-8", timeout=60
    )
    child.expect("Make this change\\?")
    child.sendintr()
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130 and "a - b" in (project / "calc.py").read_text()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["fix", "-m", "no/such"], "no model 'no/such'"),
        (["fix", "--tools", "read,dance"], "no tool 'dance'"),
        (["fix", "--allowed-tools", "rm -rf /"], "is no rule"),
        (["fix", "--fork"], "--fork"),
        (["fix", "-r", "nosuch"], "nosuch"),
        ([], "What is to be done"),
    ],
)
def test_what_can_not_be_is_said_before_anything_happens(
    agent, serve, project: Path, words, says: str
) -> None:
    server = serve(SAID)
    done = agent.run([*agent.command, "run", *words], project)
    assert done.code == 2 and says in done.stderr and server.asked == []


def test_without_a_model_it_says_how_to_add_one(agent, project: Path) -> None:
    done = agent.run([*agent.command, "run", "fix"], project)
    assert done.code == 2 and "deskagent model add" in done.stderr


def test_a_server_that_is_gone_is_said_and_the_task_is_kept(agent, serve, project: Path) -> None:
    serve([["text", "I beg"], ["die", None]], SAID)
    done = run(agent, project, "fix add")
    assert done.code == 0 and done.result["result"] == "The sum was a difference."


def test_a_key_of_the_environment_is_neither_sent_nor_kept_when_a_file_holds_it(
    agent, serve, project: Path
) -> None:
    key = "sk-local-0123456789abcdef"
    (project / ".env").write_text(f"KEY={key}\n")
    server = serve([["call", ["read", {"path": ".env"}]]], SAID)
    assert run(agent, project, "what is set?", SOME_API_KEY=key).code == 0
    assert "KEY=[redacted: environment]" in str(server.asked[1]) and key not in server.log.read_text()
    kept = [path for path in agent.home.rglob("*") if path.is_file() and key.encode() in path.read_bytes()]
    assert kept == []


def test_killed_in_a_subagents_command_it_goes_on_and_the_subagent_too(agent, serve, project: Path) -> None:
    order = {"description": "wait", "task": "wait a while"}
    server = serve(
        [["call", ["agent", order]]],
        [["call", ["terminal", {"command": "touch begun; sleep 62"}]]],
        [["text", "I was told."]],
    )
    child = agent.start([*agent.command, "run", "wait", "--permission-mode", MODE], project)
    deadline = time.monotonic() + 60
    while not (project / "begun").exists():
        assert time.monotonic() < deadline and child.poll() is None
        time.sleep(0.05)
    os.kill(child.pid, signal.SIGKILL)
    child.communicate()
    done = run(agent, project, "go on", "-c")
    assert done.code == 0, done
    (told,) = [m["content"] for m in server.asked[2]["messages"] if m["role"] == "tool"]
    assert "subagent" in told and "`resume`" in told
    id = told.split("subagent ")[1].split(" ")[0]
    again = serve([["call", ["agent", {**order, "resume": id}]]], [["text", "Going on."]], SAID)
    done = run(agent, project, "let it go on", "-c")
    assert done.code == 0, done
    inner = again.asked[1]["messages"]
    assert "its end was not seen" in str(inner) and inner[-1]["content"] == "wait a while"


@pytest.mark.parametrize(("setting", "told"), [("", True), ("off", False)])
def test_what_an_edit_broke_is_told_with_its_result(
    agent, serve, project: Path, setting: str, told: bool
) -> None:
    broken = [["call", ["edit", {"path": "calc.py", "old": "a - b", "new": "a + c"}]]]
    server = serve(READ, broken, SAID)
    assert run(agent, project, "fix add", DESKAGENT_DIAGNOSTICS=setting).code == 0
    result = [m["content"] for m in server.asked[2]["messages"] if m["role"] == "tool"][1]
    assert ("calc.py:2: Undefined name `c` (ruff F821)" in result) is told and "+    return a + c" in result
