"""Hooks run at their moments, hold up what they may, and never run unapproved."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from deskagent.agent.hooks import answer, approved, named
from deskagent.agent.hooks.answer import Answer
from deskagent.agent.hooks.running import Hooks
from deskagent.agent.hooks.watching import Hooked
from deskagent.errors import UsageError
from deskagent.messages import Call, Outcome, Result, Text
from deskagent.session import talk
from deskagent.terminal.sandbox import Unconfined, find_sandbox
from deskagent.terminal.types import End, Policy, Rung
from deskagent.tools.base import Context, Effect, Wish


def written(file: Path, **moments: list[dict[str, Any]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"hooks": moments}))


def group(command: str, matcher: str = "", **more: Any) -> dict[str, Any]:
    return {"matcher": matcher, "hooks": [{"type": "command", "command": command, **more}]}


@pytest.fixture
def warned() -> list[str]:
    return []


@pytest.fixture
def read(project: Path, warned: list[str]) -> Callable[..., list[named.Hook]]:
    return lambda trusted=True: named.named(project, trusted=trusted, warn=warned.append)


@pytest.fixture
def hooks(project: Path, recorder, read) -> Callable[..., Hooks]:
    def make() -> Hooks:
        return Hooks(recorder, project, read(), lambda: (Unconfined(), Policy()), lambda: "auto")

    return make


def test_a_projects_hooks_are_read_after_trust_and_run_once_approved_as_they_are(project: Path, read) -> None:
    file = project / ".agents" / "hooks.json"
    written(file, Stop=[group("true")])
    assert read(trusted=False) == []
    (hook,) = read()
    assert not approved.holds(hook)
    approved.keep(project, [hook])
    assert approved.holds(*read())
    for changed in ([group("false")], [group("true", timeout=5)]):
        written(file, Stop=changed)
        assert not approved.holds(*read())
    approved.keep(project, ())
    written(file, Stop=[group("true")])
    assert not approved.holds(*read())


def test_an_approval_is_of_one_project_and_the_persons_own_need_none(
    project: Path, read, tmp_path: Path
) -> None:
    written(named.own_file(), Stop=[group("true")])
    written(project / ".agents" / "hooks.json", Stop=[group("true")])
    own, theirs = read()
    assert approved.holds(own) and not approved.holds(theirs)
    approved.keep(tmp_path / "elsewhere", [theirs])
    assert not approved.holds(theirs)


@pytest.mark.parametrize(
    "text",
    [
        "{", "[]", '{"hooks": {"Sometime": []}}', '{"hooks": {"Stop": [{"hooks": [{"command": 3}]}]}}',
        '{"hooks": {"PreToolUse": [{"matcher": "(", "hooks": []}]}}',
        '{"hooks": {"Stop": [{"hooks": [{"command": "x", "timeout": 1e9}]}]}}',
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_used_is_said(project: Path, read, warned: list[str], text: str) -> None:
    theirs = project / ".agents" / "hooks.json"
    theirs.parent.mkdir()
    theirs.write_text(text)
    assert read() == [] and "hooks.json can't be used" in warned[0]
    named.own_file().parent.mkdir(parents=True, exist_ok=True)
    named.own_file().write_text(text)
    with pytest.raises(UsageError, match="can't be used"):
        read()


def test_a_projects_file_that_leads_elsewhere_is_left_out(
    project: Path, read, warned, tmp_path: Path
) -> None:
    written(tmp_path / "else.json", Stop=[group("true")])
    (project / ".agents").mkdir()
    (project / ".agents" / "hooks.json").symlink_to(tmp_path / "else.json")
    assert read() == [] and "leads out" in warned[0]


@pytest.mark.parametrize(
    ("on", "code", "out", "err", "expected"),
    [
        ("PreToolUse", 2, "", "not that", Answer(held="not that")),
        ("PreToolUse", 0, "chatter", "", Answer()),
        ("UserPromptSubmit", 0, "know this", "", Answer(context="know this")),
        ("PreToolUse", 1, "", "oops", Answer(told="it failed with 1. oops")),
        ("Stop", 0, '{"decision": "block", "reason": "tests first"}', "", Answer(held="tests first")),
        ("Stop", 0, '{"continue": false, "stopReason": "enough"}', "", Answer(stop="enough")),
        ("Stop", 0, '{"systemMessage": "hello"}', "", Answer(told="hello")),
        ("Stop", 0, '{"decision": ', "", Answer()),
        (
            "PreToolUse", 0,
            '{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "no"}}', "",
            Answer(held="no"),
        ),
        ("PreToolUse", 0, '{"hookSpecificOutput": {"permissionDecision": "allow"}}', "", Answer()),
        ("PostToolUse", 0, '{"hookSpecificOutput": {"additionalContext": "x"}}', "", Answer(context="x")),
    ],
)  # fmt: skip
def test_what_a_hook_says(on: str, code: int, out: str, err: str, expected: Answer) -> None:
    assert answer.read(on, End.EXITED, code, out, err) == expected


def test_a_hook_gets_json_and_is_on_record(project: Path, hooks, recorder) -> None:
    written(
        named.own_file(),
        PreToolUse=[group("cat > got.json; echo why >&2; exit 2", "edit|write"), group("false", "x")],
    )
    made = hooks()
    assert made.at("PreToolUse", {"tool_name": "edit"}, tool="edit") == Answer(held="why")
    assert made.at("PreToolUse", {"tool_name": "read"}, tool="read") == Answer()
    got = json.loads((project / "got.json").read_text())
    assert (got["hook_event_name"], got["tool_name"], got["permission_mode"]) == (
        "PreToolUse",
        "edit",
        "auto",
    )
    assert got["session_id"] == recorder.journal.id and got["cwd"] == str(project)
    found = [r.event for r in recorder.journal.read() if isinstance(r.event, talk.HookBegun | talk.HookEnded)]
    begun, ended = found
    assert begun.source == str(named.own_file()) and (ended.code, ended.blocked, ended.output) == (
        2,
        True,
        "why\n",
    )


def test_time_limits_cancels_and_what_will_not_read(project: Path, hooks, watcher) -> None:
    written(
        named.own_file(),
        Stop=[group("sleep 600 & sleep 600", timeout=0.3)],
        PreCompact=[group("exec 0<&-; head -c 3000000 /dev/zero | tr '\\0' x")],
        SessionStart=[group("sleep 600")],
        Notification=[group("exit 9")],
    )
    made = hooks()
    assert "timeout" in made.at("Stop", {}).told
    assert made.at("PreCompact", {"much": "y" * 300_000}) == Answer()
    cancel = threading.Event()
    cancel.set()
    assert "it was ended" in made.at("SessionStart", {}, cancel=cancel).told
    assert "failed with 9" in made.at("Notification", {}).told


def test_the_first_that_holds_up_is_the_last(project: Path, hooks) -> None:
    written(named.own_file(), Stop=[group("echo one >&2; exit 2"), group("touch ran")])
    assert hooks().at("Stop", {}).held == "one"
    assert not (project / "ran").exists()


@pytest.mark.skipif(find_sandbox().rung is Rung.NONE, reason="needs a sandbox")
def test_they_run_in_the_sandbox(project: Path, recorder, read, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    written(named.own_file(), Stop=[group(f"echo x > inside; echo x > {outside}/file")])
    Hooks(
        recorder, project, read(), lambda: (find_sandbox(), Policy(writable=(project,))), lambda: "auto"
    ).at("Stop", {})
    assert (project / "inside").exists() and not (outside / "file").exists()


@dataclass
class Inner:
    def before(self, call: Call, context: Context) -> str:
        return ""

    def after(self, call: Call, wish: Wish, result: Result, context: Context) -> Result:
        return result


def test_calls_are_held_up_and_results_get_what_hooks_say(project: Path, hooks) -> None:
    add = '{"hookSpecificOutput": {"additionalContext": "mind the style"}}'
    written(
        named.own_file(),
        PreToolUse=[group("exit 2", "write"), group(f"echo '{add}'", "edit")],
        PostToolUse=[group("""grep -q '"text": "done"' && echo ran >&2 && exit 2""", "edit")],
    )
    watch = Hooked(Inner(), hooks())
    context = Context(project, "c", Unconfined(), Policy(), {}, {}, lambda changes: "", lambda data: "")
    assert "held it up" in watch.before(Call("c1", "write", "{}"), context)
    call = Call("c2", "edit", '{"path": "a"}')
    assert watch.before(call, context) == ""
    result = watch.after(call, Wish(Effect.NONE, "edit", "a"), Result.of("done"), context)
    said = [part.text for part in result.content if isinstance(part, Text)]
    assert said == ["done", "A hook says: mind the style", "A hook says: ran"]
    assert result.outcome is Outcome.DONE


def test_beside_other_work(project: Path, hooks) -> None:
    written(named.own_file(), UserPromptSubmit=[group("echo context")])
    assert asyncio.run(hooks().wait("UserPromptSubmit", {"prompt": "x"})).context == "context"
