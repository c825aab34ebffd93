"""Claude Code's sessions and settings."""

from __future__ import annotations

import base64
import json

from deskagent.agent.converse import standing
from deskagent.agent.hooks import named
from deskagent.agent.servers.named import entries, own_file
from deskagent.imports.plan import instructions_file, skills_folder
from deskagent.imports.sources import look
from deskagent.messages import Answer, Author, Image, Outcome, Said, Text, Thinking

NAME = ".claude/projects/-work-shop/5b0e.jsonl"
PNG = base64.b64encode(
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (7).to_bytes(4) + (5).to_bytes(4) + b"\x08\x02\0\0\0"
).decode()


def entry(uuid: str, parent: str | None, kind: str, content: object, **more: object) -> dict[str, object]:
    message = {"role": kind, "content": content} | more.pop("message", {})  # type: ignore[operator]
    return {
        "uuid": uuid,
        "parentUuid": parent,
        "type": kind,
        "sessionId": "5b0e",
        "cwd": "/work/shop",
        "timestamp": "2026-02-03T04:05:06.000Z",
        "isSidechain": False,
        "message": message,
    } | more


def answer(uuid: str, parent: str, message: str, *blocks: object) -> dict[str, object]:
    return entry(uuid, parent, "assistant", list(blocks), message={"id": message, "model": "claude-x-1"})


def used(name: str, call: str, **given: object) -> dict[str, object]:
    return {"type": "tool_use", "id": call, "name": name, "input": given}


def gave(call: str, content: object, **more: object) -> dict[str, object]:
    return {"type": "tool_result", "tool_use_id": call, "content": content} | more


def test_thinking_calls_and_results_come_over_in_order(put, bring, history) -> None:
    put(
        NAME,
        [
            {"type": "summary", "summary": "Prices", "leafUuid": "z"},
            entry("1", None, "user", "Round the prices."),
            answer("2", "1", "m1", {"type": "thinking", "thinking": "Where?", "signature": "c2ln"}),
            answer("3", "2", "m1", {"type": "text", "text": "I look."}),
            answer("4", "3", "m1", used("Read", "toolu_1", file_path="a.py")),
            entry("5", "4", "user", [gave("toolu_1", [{"type": "text", "text": "x = 1"}])]),
            answer("6", "5", "m2", used("Bash", "toolu_2", command="pytest")),
            entry("7", "6", "user", [gave("toolu_2", "1 failed", is_error=True)]),
            answer("8", "7", "m3", {"type": "text", "text": "Done."}),
        ],
    )
    _, done = bring("claude")
    turns = history(done.sessions[0]).turns()
    first, second, third, fourth, last = turns
    assert first == Said((Text("Round the prices."),))
    assert isinstance(second, Answer)
    assert second.parts[:2] == (Thinking("Where?", "thinking", {"signature": "c2ln"}), Text("I look."))
    assert second.model == "anthropic/claude-x-1"
    assert json.loads(second.used[0].call.arguments) == {"file_path": "a.py"}
    assert second.used[0].result.content == (Text("x = 1"),)
    assert isinstance(third, Answer) and third.used[0].result.outcome is Outcome.FAILED
    assert isinstance(fourth, Answer) and fourth.text == "Done."
    assert isinstance(last, Said) and last.author is Author.DESKAGENT


def test_results_of_calls_made_at_once_are_all_kept(put, bring, history) -> None:
    """Each result hangs on its own call's line, and only the last line is in the thread."""
    put(
        NAME,
        [
            entry("1", None, "user", "Look."),
            answer("2", "1", "m1", used("Read", "a")),
            answer("3", "2", "m1", used("Read", "b")),
            entry("4", "2", "user", [gave("a", "A")]),
            entry("5", "3", "user", [gave("b", "B")]),
            answer("6", "5", "m2", {"type": "text", "text": "Seen."}),
        ],
    )
    _, done = bring("claude")
    both = history(done.sessions[0]).turns()[1]
    assert isinstance(both, Answer)
    assert [each.result.content for each in both.used] == [(Text("A"),), (Text("B"),)]


def test_what_was_rewound_stays_behind(put, bring, history) -> None:
    put(
        NAME,
        [
            entry("1", None, "user", "One."),
            answer("2", "1", "m1", {"type": "text", "text": "first"}),
            entry("3", "2", "user", "Not this."),
            answer("4", "3", "m2", {"type": "text", "text": "gone"}),
            entry("5", "2", "user", "But this."),
            entry("6", "5", "assistant", [{"type": "text", "text": "of a subagent"}], isSidechain=True),
            answer("7", "5", "m3", {"type": "text", "text": "kept"}),
        ],
    )
    _, done = bring("claude")
    said = [
        part.text
        for turn in history(done.sessions[0]).turns()
        for part in turn.parts
        if isinstance(part, Text)
    ]
    assert said[:4] == ["One.", "first", "But this.", "kept"]


def test_a_summary_stands_for_what_came_before(put, bring, history) -> None:
    put(
        NAME,
        [
            entry("1", None, "user", "One."),
            answer("2", "1", "m1", {"type": "text", "text": "first"}),
            {
                "type": "system",
                "subtype": "compact_boundary",
                "uuid": "3",
                "parentUuid": None,
                "logicalParentUuid": "2",
            },
            entry("4", "3", "user", "We did one.", isCompactSummary=True),
            entry("5", "4", "user", "Two."),
        ],
    )
    _, done = bring("claude")
    found = history(done.sessions[0])
    assert [turn.parts[0] for turn in found.turns()[:2]] == [Text("We did one."), Text("Two.")]
    assert found.all[0].turn.parts == (Text("One."),)


def test_pictures_come_over_and_what_is_none_is_said(put, bring, history) -> None:
    def picture(data: str) -> dict[str, object]:
        return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}

    put(NAME, [entry("1", None, "user", [picture(PNG), picture("AAAA"), picture("!")])])
    _, done = bring("claude")
    one, two, three = history(done.sessions[0]).turns()[0].parts
    assert isinstance(one, Image) and (one.width, one.height, one.media) == (7, 5, "image/png")
    assert isinstance(two, Text) and isinstance(three, Text) and "wasn't brought over" in two.text


def test_rubbish_and_half_a_line_cost_only_themselves(put, bring, history) -> None:
    path = put(
        NAME, [entry("1", None, "user", "One."), answer("2", "1", "m1", used("Bash", "c", command="x"))]
    )
    with path.open("ab") as out:
        out.write(b"\xff\xfe no json\n[1]\n" + b'{"type":"assistant","uuid":"3","parentUuid":"2","mess')
    put(".claude/projects/-work-shop/empty.jsonl", "")
    put(".claude/projects/-work-shop/odd.jsonl", '{"type":7,"message":[],"cwd":{}}\nnull\n')
    _, done = bring("claude")
    assert len(done.sessions) == 1
    assert done.lost == 3
    call = history(done.sessions[0]).turns()[1]
    assert isinstance(call, Answer)
    assert call.used[0].result.outcome is Outcome.UNKNOWN


def test_again_brings_nothing_twice_and_the_source_stays_as_it_was(home, put, bring) -> None:
    put(NAME, [entry("1", None, "user", "One.")])
    put(".claude/CLAUDE.md", "Be brief.\nAPI_KEY=sk-ant-abcdefgh12345678\n")
    put(".claude/settings.json", {"permissions": {"allow": ["Bash(npm run test:*)"]}})
    put(".claude/skills/pdf/SKILL.md", "---\nname: pdf\n---\n")
    put(".claude.json", {"mcpServers": {"hub": {"command": "npx", "env": {"HUB_TOKEN": "ghp_" + "a" * 36}}}})
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    _, first = bring("claude")
    texts = [instructions_file().read_text(), own_file().read_text(), standing.path().read_text()]
    again, second = bring("claude")
    assert len(first.sessions) == 1 and second.sessions == []
    assert again.empty
    here = {"sessions": 1, "instructions": 1, "mcp": 1, "rules": 1, "skills": 1, "hooks": 0}
    assert again.here == here
    assert [instructions_file().read_text(), own_file().read_text(), standing.path().read_text()] == texts
    assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == before
    everything = "".join(texts)
    assert "ghp_" not in everything and "sk-ant" not in everything
    assert entries(own_file())["hub"]["env"] == {"HUB_TOKEN": "${HUB_TOKEN}"}
    assert (skills_folder() / "pdf" / "SKILL.md").is_file()


def test_rules_are_said_in_our_words_or_named(put) -> None:
    rules = {
        "allow": [
            "Bash(npm run test:*)",
            "Bash(ls)",
            "WebFetch(domain:example.org)",
            "Bash",
            "Bash(a && b:*)",
            "Wild(x",
        ],
        "deny": ["Read(./.env)", "Edit(src/**)", "Read(//etc/**)", "Bash(rm *)"],
        "ask": ["Bash(git push:*)"],
    }
    put(".claude/settings.json", {"permissions": rules})
    found = look("claude")
    assert [(each.kind, each.rule) for each in found.permissions] == [
        ("allow", "terminal(npm run test *)"),
        ("allow", "terminal(ls)"),
        ("allow", "fetch(example.org)"),
        ("ask", "terminal(git push *)"),
        ("deny", "read(/.env)"),
        ("deny", "edit(src/**)"),
        ("deny", "write(src/**)"),
        ("deny", "terminal(rm *)"),
    ]
    assert len(found.notes) == 4


def test_hooks_come_over_with_our_names_of_tools_once(put, bring) -> None:
    def group(matcher: str, command: str, **more: object) -> dict[str, object]:
        return {"matcher": matcher, "hooks": [{"type": "command", "command": command} | more]}

    put(
        ".claude/settings.json",
        {
            "hooks": {
                "PreToolUse": [group("Bash|Edit", "check", timeout=5), group("Note.*", "note")],
                "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
                "Sometime": [group("", "x")],
            }
        },
    )
    named.add([("Stop", "", "mine", 9.0)])
    made, _ = bring("claude")
    assert len([note for note in made.notes if note.startswith("A hook at")]) == 2
    found = [(hook.on, hook.matcher, hook.command, hook.seconds) for hook in named.own()]
    assert found == [
        ("Stop", "", "mine", 9.0),
        ("Stop", "", "say done", 60.0),
        ("PreToolUse", "terminal|edit|write", "check", 5.0),
    ]
    again, _ = bring("claude")
    assert again.hooks == [] and again.here["hooks"] == 2
