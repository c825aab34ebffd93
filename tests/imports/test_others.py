"""Sessions and settings of Codex, opencode and kimi-cli."""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3

import pytest

from deskagent.imports.sources import look
from deskagent.messages import Answer, Author, Outcome, Said, Text, Thinking


def item(kind: str, **payload: object) -> dict[str, object]:
    return {"timestamp": "2026-02-03T04:05:06.000Z", "type": kind, "payload": payload}


def message(role: str, text: str) -> dict[str, object]:
    kind = "output_text" if role == "assistant" else "input_text"
    return item("response_item", type="message", role=role, content=[{"type": kind, "text": text}])


CODEX = [
    item("session_meta", id="0199-a", cwd="/work/shop", originator="codex_cli_rs", cli_version="0.50.0"),
    message("user", "<environment_context>linux</environment_context>"),
    message("user", "Round the prices."),
    item("event_msg", type="user_message", message="Round the prices."),
    item("turn_context", cwd="/work/shop", model="gpt-x"),
    item(
        "response_item",
        type="reasoning",
        summary=[{"type": "summary_text", "text": "Where?"}],
        encrypted_content="e",
    ),
    item("response_item", type="function_call", name="shell", arguments='{"command":["ls"]}', call_id="c1"),
    item("response_item", type="custom_tool_call", name="apply_patch", input="*** Begin", call_id="c2"),
    item(
        "response_item",
        type="function_call_output",
        call_id="c1",
        output='{"output":"a.py","metadata":{"exit_code":2}}',
    ),
    item("response_item", type="custom_tool_call_output", call_id="c2", output="Done"),
    message("assistant", "Rounded."),
]


def test_codex_rollouts(put, bring, history) -> None:
    put(".codex/sessions/2026/02/03/rollout-2026-02-03T04-05-06-0199-a.jsonl", CODEX)
    plan, done = bring("codex")
    assert (plan.sessions[0].key, plan.sessions[0].title) == ("0199-a", "Round the prices.")
    context, asked, worked, told, _ = history(done.sessions[0]).turns()
    assert isinstance(context, Said) and context.author is Author.DESKAGENT
    assert asked == Said((Text("Round the prices."),))
    assert isinstance(worked, Answer) and worked.model == "openai/gpt-x"
    thought = worked.parts[0]
    assert isinstance(thought, Thinking) and thought.text == "Where?"
    assert thought.raw["item"]["encrypted_content"] == "e"
    shell, patch = worked.used
    assert (shell.call.name, shell.result.outcome, shell.result.content) == (
        "shell",
        Outcome.FAILED,
        (Text("a.py"),),
    )
    assert (patch.call.arguments, patch.result.content) == ("*** Begin", (Text("Done"),))
    assert isinstance(told, Answer) and told.text == "Rounded."


def test_a_shortened_codex_session_goes_on_from_its_summary(put, bring, history) -> None:
    put(
        ".codex/sessions/2026/02/03/rollout-x.jsonl",
        [*CODEX, item("compacted", message="We rounded."), message("user", "Next.")],
    )
    _, done = bring("codex")
    assert [turn.parts[0] for turn in history(done.sessions[0]).turns()[:2]] == [
        Text("We rounded."),
        Text("Next."),
    ]


def test_codex_settings(put) -> None:
    put(".codex/AGENTS.md", "Be brief.")
    put(
        ".codex/config.toml",
        'approval_policy = "never"\n[mcp_servers.docs]\ncommand = "docs"\nargs = ["--api-key", "s3cr3tvalue99"]\n'
        '[mcp_servers.hub]\nurl = "https://hub.example/mcp"\nbearer_token_env_var = "HUB"\n'
        '[mcp_servers.off]\ncommand = "x"\nenabled = false\n',
    )
    put(
        ".codex/rules/default.rules",
        'prefix_rule(pattern=["git", ["log", "show"]], decision="allow")\n'
        'prefix_rule(pattern=["rm"], decision="forbidden")\n'
        'prefix_rule(pattern=["gh", "pr"], decision="prompt")\nprefix_rule(pattern=compute())\n',
    )
    found = look("codex")
    docs, hub = found.servers
    assert docs.settings == {"command": "docs", "args": ["--api-key", "${DOCS_KEY}"]} and docs.keys == (
        "DOCS_KEY",
    )
    assert hub.settings["headers"] == {"Authorization": "Bearer ${HUB}"}
    assert [(each.kind, each.rule) for each in found.permissions] == [
        ("allow", "terminal(git log *)"),
        ("allow", "terminal(git show *)"),
        ("deny", "terminal(rm *)"),
        ("ask", "terminal(gh pr *)"),
    ]
    assert [path.name for path in found.instructions] == ["AGENTS.md"]


PARTS = [
    {"type": "step-start"},
    {"type": "reasoning", "text": "Where?", "metadata": {"anthropic": {"signature": "sig"}}},
    {"type": "text", "text": "I look."},
    {
        "type": "tool",
        "callID": "c1",
        "tool": "read",
        "state": {"status": "completed", "input": {"filePath": "a.py"}, "output": "x = 1"},
    },
    {
        "type": "tool",
        "callID": "c2",
        "tool": "bash",
        "state": {"status": "error", "input": {"command": "x"}, "error": "no"},
    },
    {
        "type": "tool",
        "callID": "c3",
        "tool": "bash",
        "state": {"status": "running", "input": {"command": "y"}},
    },
]


def check_opencode(history, session: str) -> None:
    asked, worked, _ = history(session).turns()
    assert asked == Said((Text("Round the prices."),))
    assert isinstance(worked, Answer) and worked.model == "anthropic/claude-x-1"
    assert worked.parts[:2] == (Thinking("Where?", "thinking", {"signature": "sig"}), Text("I look."))
    assert [each.result.outcome for each in worked.used] == [Outcome.DONE, Outcome.FAILED, Outcome.UNKNOWN]


def test_opencode_database(home, put, bring, history) -> None:
    path = put(".local/share/opencode/opencode.db", "")
    path.unlink()
    with contextlib.closing(sqlite3.connect(path)) as base:
        base.execute(
            "CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, title TEXT, time_created INTEGER)"
        )
        base.execute("CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT)")
        base.execute(
            "CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, time_created INTEGER, data TEXT)"
        )
        base.execute("INSERT INTO session VALUES ('ses_1', NULL, '/work/shop', 'Prices', 1770000000000)")
        base.execute(
            "INSERT INTO session VALUES ('ses_2', 'ses_1', '/work/shop', 'of a subagent', 1770000000000)"
        )
        user, model = (
            {"role": "user"},
            {"role": "assistant", "providerID": "anthropic", "modelID": "claude-x-1"},
        )
        for number, (data, parts) in enumerate(
            ((user, [{"type": "text", "text": "Round the prices."}]), (model, PARTS))
        ):
            base.execute(
                "INSERT INTO message VALUES (?, 'ses_1', ?, ?)", (f"m{number}", number, json.dumps(data))
            )
            for at, part in enumerate(parts):
                base.execute(
                    "INSERT INTO part VALUES (?, ?, 'ses_1', 0, ?)",
                    (f"p{number}{at}", f"m{number}", json.dumps(part)),
                )
        base.commit()
    before = sorted(home.rglob("*"))
    plan, done = bring("opencode")
    assert [session.title for session in plan.sessions] == ["Prices"]
    check_opencode(history, done.sessions[0])
    assert sorted(home.rglob("*")) == before


def test_opencode_files(put, bring, history) -> None:
    top = ".local/share/opencode/storage"
    put(f"{top}/session/global/ses_1.json", {"id": "ses_1", "directory": "/work/shop", "title": "Prices"})
    put(f"{top}/message/ses_1/msg_1.json", {"role": "user"})
    put(
        f"{top}/message/ses_1/msg_2.json",
        {"role": "assistant", "providerID": "anthropic", "modelID": "claude-x-1"},
    )
    put(f"{top}/part/msg_1/prt_1.json", {"type": "text", "text": "Round the prices."})
    put(f"{top}/part/msg_1/prt_2.json", '{"type": "te')
    for number, part in enumerate(PARTS):
        put(f"{top}/part/msg_2/prt_{number}.json", part)
    _, done = bring("opencode")
    check_opencode(history, done.sessions[0])
    assert done.lost == 1


def test_opencode_settings_with_comments(put) -> None:
    put(".local/share/opencode/auth.json", {})
    put(
        ".config/opencode/opencode.jsonc",
        """{
          // mine
          "permission": {"bash": {"*": "ask", "git *": "allow", "rm *": "deny"}, "edit": "deny",},
          "mcp": {"hub": {"type": "local", "command": ["npx", "hub"],
            "environment": {"A": "{env:A}", "LEVEL": "info"}}},
        }""",
    )
    found = look("opencode")
    assert [(each.kind, each.rule) for each in found.permissions] == [
        ("allow", "terminal(git *)"),
        ("deny", "terminal(rm *)"),
        ("deny", "edit"),
        ("deny", "write"),
    ]
    assert found.servers[0].settings == {
        "command": "npx",
        "args": ["hub"],
        "env": {"A": "${A}", "LEVEL": "info"},
    }


def test_kimi_contexts(put, bring, history) -> None:
    folder = hashlib.md5(b"/work/shop").hexdigest()
    put(".kimi/kimi.json", {"work_dirs": [{"path": "/work/shop", "kaos": "local"}]})
    function = {"name": "Shell", "arguments": '{"command": "ls"}'}
    put(
        f".kimi/sessions/{folder}/s1/context.jsonl",
        [
            {"role": "_system_prompt", "content": "You are"},
            {"role": "_checkpoint", "id": 0},
            {"role": "user", "content": "Round the prices."},
            {
                "role": "assistant",
                "content": [
                    {"type": "think", "think": "Where?", "encrypted": None},
                    {"type": "text", "text": "I look."},
                ],
                "tool_calls": [{"type": "function", "id": "t1", "function": function}],
            },
            {
                "role": "tool",
                "tool_call_id": "t1",
                "content": [{"type": "text", "text": "<system>ERROR: no</system>"}],
            },
            {"role": "_usage", "token_count": 7},
            {"role": "assistant", "content": "Rounded."},
        ],
    )
    put(".kimi/sessions/feed/s2/context.jsonl", [{"role": "user", "content": "elsewhere"}])
    plan, done = bring("kimi")
    assert len(done.sessions) == 1 and len(plan.notes) == 1
    _, worked, told, _ = history(done.sessions[0]).turns()
    assert isinstance(worked, Answer) and isinstance(told, Answer)
    assert worked.parts[:2] == (Thinking("Where?", "reasoning_content"), Text("I look."))
    assert worked.used[0].result.outcome is Outcome.FAILED
    assert told.text == "Rounded."


@pytest.mark.parametrize("source", ["claude", "codex", "kimi", "opencode"])
def test_settings_of_any_kind_break_nothing(source: str, put) -> None:
    for value in (
        "",
        "null",
        "[[1]]",
        '{"mcpServers": 3, "permissions": [], "mcp": {"x": 1}, "permission": {"bash": [1]}}',
        "\x00\xff",
    ):
        for name in (
            ".claude.json",
            ".claude/settings.json",
            ".codex/config.toml",
            ".codex/rules/a.rules",
            ".kimi/kimi.json",
        ):
            put(name, value)
        put(".kimi/mcp.json", value)
        put(".config/opencode/opencode.json", value)
        put(".local/share/opencode/opencode.db", value)
        put(".codex/sessions/rollout-x.jsonl", value)
        found = look(source)
        assert (found.sessions, found.servers, found.permissions) == ([], [], [])
