"""Codex: `~/.codex` (or CODEX_HOME).

| what | where |
|---|---|
| sessions | `sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`, `archived_sessions/`: an object a line |
| instructions | `AGENTS.md`, and `AGENTS.override.md` in its place |
| MCP servers | `config.toml`: `[mcp_servers.<name>]` |
| rules | `rules/*.rules`: `prefix_rule(pattern=[…], decision=…)` |
| skills | `skills/<name>/SKILL.md` |

An object has `timestamp`, `type`, `payload`: `response_item` is what the model was sent and sent itself, `event_msg`
says the same again for the screen.
"""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path
from typing import Any

from deskagent.imports import lines, rules, servers
from deskagent.imports.found import Found, Session
from deskagent.imports.lines import items, mapping, moment, words
from deskagent.imports.scribe import Scribe
from deskagent.imports.skills import skills
from deskagent.messages import Author, Call, Outcome, Part, Result, Text, Thinking

_LOOK = 60
_OURS = (
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<permissions instructions>",
)
_CALLS = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "local_shell_call": "action",
    "web_search_call": "action",
}
_OUTPUTS = ("function_call_output", "custom_tool_call_output", "tool_search_output")


def look(home: Path) -> Found:
    """home: the person's home folder."""
    folder = Path(os.environ.get("CODEX_HOME") or home / ".codex")
    found = Found(folder)
    for top in ("sessions", "archived_sessions"):
        for path in sorted((folder / top).rglob("rollout-*.jsonl")):
            if path.is_file():
                found.sessions += _session(path)
    own = [path for path in (folder / "AGENTS.override.md", folder / "AGENTS.md") if path.is_file()]
    found.instructions += own[:1]
    config = lines.document(folder / "config.toml")
    servers.take(found, config.get("mcp_servers"))
    for path in sorted(folder.glob("rules/*.rules")):
        for kind, ours in rules.codex(_text(path)):
            if not kind or ours is None:
                found.notes.append(f"A rule in {path.name} can't be said here.")
            else:
                rules.take(found, kind, lambda rule: [rule], ours)
    for name in ("approval_policy", "sandbox_mode"):
        if value := words(config.get(name)):
            found.notes.append(f"{name} = {value} stays there: see --permission-mode.")
    found.skills += skills(folder / "skills")
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace") if path.stat().st_size <= lines.MOST else ""
    except OSError:
        return ""


def _session(path: Path) -> list[Session]:
    key = cwd = title = ""
    started = 0.0
    for number, entry in lines.objects(path, lines.Lost()):
        kind, payload = entry.get("type"), mapping(entry.get("payload"))
        started = started or moment(entry.get("timestamp"))
        if kind == "session_meta":
            meta = mapping(payload.get("meta")) or payload
            key, cwd = key or words(meta.get("id")), cwd or words(meta.get("cwd"))
        cwd = cwd or (words(payload.get("cwd")) if kind == "turn_context" else "")
        if not title and kind == "response_item" and payload.get("role") == "user":
            said = [words(block.get("text")) for block in items(payload.get("content"))]
            title = next((text for text in said if text.strip() and not text.startswith(_OURS)), "")
        if (key and cwd and title) or number > _LOOK:
            break
    if not cwd:
        return []
    read = functools.partial(_read, path)
    return [Session(key or path.stem, cwd, title, started, lines.size(path), read)]


def _read(path: Path, scribe: Scribe) -> int:
    lost = lines.Lost()
    provider, model = "openai", "codex"
    for _, entry in lines.objects(path, lost):
        payload, time = mapping(entry.get("payload")), moment(entry.get("timestamp"))
        match entry.get("type"):
            case "session_meta":
                provider = words(payload.get("model_provider")) or provider
            case "turn_context":
                model = words(payload.get("model")) or model
            case "response_item":
                _item(payload, f"{provider}/{model}", time, scribe)
            case "compacted":
                if told := words(payload.get("message")) or _told(payload):
                    scribe.summary(told, time)
    return lost.count


def _item(item: dict[str, Any], model: str, time: float, scribe: Scribe) -> None:
    kind = words(item.get("type"))
    if kind == "message":
        _message(item, model, time, scribe)
    elif kind == "reasoning":
        kept = {name: item[name] for name in ("type", "id", "summary", "encrypted_content") if item.get(name)}
        pieces = items(item.get("content")) or items(item.get("summary"))
        text = "\n\n".join(words(piece.get("text")) for piece in pieces)
        raw = {"item": kept | {"summary": item.get("summary") or []}} if kept.get("encrypted_content") else {}
        scribe.part(Thinking(text, "reasoning", raw), model, time=time)
    elif kind in _CALLS:
        given = item.get(_CALLS[kind])
        asked = given if isinstance(given, str) else json.dumps(given or {}, ensure_ascii=False)
        call = words(item.get("call_id")) or words(item.get("id"))
        name = words(item.get("name")) or kind.removesuffix("_call")
        scribe.part(Call(call, name, asked), model, time=time)
        if kind == "web_search_call":  # it was done by the server, which keeps what was found
            scribe.result(call, Result.of("(done by the server; what it found isn't in the session)"), time)
    elif kind in _OUTPUTS:
        scribe.result(words(item.get("call_id")), _result(item.get("output"), scribe), time)


def _message(item: dict[str, Any], model: str, time: float, scribe: Scribe) -> None:
    parts = _parts(item.get("content"), scribe)
    if item.get("role") == "assistant":
        for part in parts:
            if isinstance(part, Text):
                scribe.part(part, model, time=time)
    elif item.get("role") == "user":
        first = next((part.text for part in parts if isinstance(part, Text)), "")
        scribe.said(parts, Author.DESKAGENT if first.startswith(_OURS) else Author.PERSON, time)


def _parts(content: Any, scribe: Scribe) -> tuple[Part, ...]:
    found: list[Part] = []
    for block in items(content):
        if url := words(block.get("image_url")):
            found.append(scribe.picture(url, "a picture"))
        elif text := words(block.get("text")):
            found.append(Text(text))
    return tuple(found)


def _result(output: Any, scribe: Scribe) -> Result:
    """Text, pieces, or `{content, success}`; older versions put JSON with the exit code into the text."""
    failed = mapping(output).get("success") is False
    inner = mapping(output).get("content", output)
    if isinstance(inner, str):
        told = mapping(lines.parsed(inner)) if inner.startswith("{") else {}
        failed = failed or mapping(told.get("metadata")).get("exit_code", 0) not in (0, None)
        parts: tuple[Part, ...] = (Text(words(told.get("output")) or inner),)
    else:
        parts = _parts(inner, scribe)
    return Result(Outcome.FAILED if failed else Outcome.DONE, parts)


def _told(payload: dict[str, Any]) -> str:
    """What a conversation was shortened to, where that is more than a message."""
    said = (
        f"{words(item.get('role'))}: {words(block.get('text'))}"
        for item in items(payload.get("replacement_history"))
        for block in items(item.get("content"))
        if words(block.get("text"))
    )
    return "\n\n".join(said)
