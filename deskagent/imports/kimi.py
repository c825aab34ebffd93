"""kimi-cli: `~/.kimi` (or KIMI_SHARE_DIR).

| what | where |
|---|---|
| sessions | `sessions/<MD5 of the folder>/<id>/context.jsonl`, of old versions `…/<id>.jsonl`: a message a line |
| folders | `kimi.json`: `work_dirs` with their paths, which the MD5s are of |
| MCP servers | `mcp.json`: `mcpServers` |
| skills | `skills/<name>/SKILL.md` |

There are no instructions and no rules of the person's own. A shortened context holds its summary as a message.
"""

from __future__ import annotations

import functools
import hashlib
import os
from pathlib import Path
from typing import Any

from deskagent.imports import lines, servers
from deskagent.imports.found import Found, Session
from deskagent.imports.lines import items, mapping, words
from deskagent.imports.scribe import Scribe
from deskagent.imports.skills import skills
from deskagent.messages import Author, Call, Outcome, Part, Result, Text, Thinking

_OURS = ("<system>", "<system-reminder>")
_FAILED = ("<system>ERROR", "ERROR:")


def look(home: Path) -> Found:
    """home: the person's home folder."""
    folder = Path(os.environ.get("KIMI_SHARE_DIR") or home / ".kimi")
    found = Found(folder)
    known = items(lines.document(folder / "kimi.json").get("work_dirs"))
    cwds = {_name(entry): words(entry.get("path")) for entry in known}
    unknown = 0
    for top in sorted(folder.glob("sessions/*")):
        for path in sorted([*top.glob("*/context.jsonl"), *top.glob("*.jsonl")]):
            if not path.is_file() or not lines.size(path):
                continue
            if cwd := cwds.get(top.name):
                found.sessions.append(_session(path, cwd))
            else:
                unknown += 1
    if unknown:
        found.notes.append(f"{unknown} sessions are of folders that kimi.json doesn't name.")
    servers.take(found, lines.document(folder / "mcp.json").get("mcpServers"))
    found.skills += skills(folder / "skills")
    return found


def _name(entry: dict[str, Any]) -> str:
    name = hashlib.md5(words(entry.get("path")).encode("utf-8", "replace"), usedforsecurity=False).hexdigest()
    host = words(entry.get("kaos")) or "local"
    return name if host == "local" else f"{host}_{name}"


def _session(path: Path, cwd: str) -> Session:
    key = path.parent.name if path.name == "context.jsonl" else path.stem
    title = ""
    if path.name == "context.jsonl":
        title = words(lines.document(path.parent / "state.json").get("custom_title"))
    for _, message in lines.objects(path, lines.Lost()):
        if title:
            break
        if message.get("role") == "user":
            said = (part.text for part in _parts(message.get("content"), None) if isinstance(part, Text))
            title = next((text for text in said if not text.startswith(_OURS)), "")
    started = path.stat().st_ctime if path.exists() else 0.0
    return Session(key, cwd, title, started, lines.size(path), functools.partial(_read, path))


def _read(path: Path, scribe: Scribe) -> int:
    lost = lines.Lost()
    for _, message in lines.objects(path, lost):
        content = message.get("content")
        match message.get("role"):
            case "user":
                parts = tuple(_parts(content, scribe))
                first = next((part.text for part in parts if isinstance(part, Text)), "")
                scribe.said(parts, Author.DESKAGENT if first.startswith(_OURS) else Author.PERSON)
            case "assistant":
                _answer(message, scribe)
            case "tool":
                scribe.result(words(message.get("tool_call_id")), _result(content, scribe))
    return lost.count


def _answer(message: dict[str, Any], scribe: Scribe) -> None:
    for block in items(message.get("content")) or [{"type": "text", "text": message.get("content")}]:
        if block.get("type") == "think":
            kept = words(block.get("encrypted"))
            raw = {"encrypted": kept} if kept else {}
            scribe.part(Thinking(words(block.get("think")), "reasoning_content", raw), "kimi/kimi")
        elif text := words(block.get("text")):
            scribe.part(Text(text), "kimi/kimi")
    for call in items(message.get("tool_calls")):
        function = mapping(call.get("function"))
        asked = words(function.get("arguments")) or "{}"
        scribe.part(Call(words(call.get("id")), words(function.get("name")), asked), "kimi/kimi")


def _result(content: Any, scribe: Scribe) -> Result:
    parts = tuple(_parts(content, scribe))
    first = next((part.text for part in parts if isinstance(part, Text)), "")
    return Result(Outcome.FAILED if first.startswith(_FAILED) else Outcome.DONE, parts)


def _parts(content: Any, scribe: Scribe | None) -> list[Part]:
    found: list[Part] = [Text(content)] if isinstance(content, str) else []
    for block in items(content):
        if block.get("type") == "text":
            found.append(Text(words(block.get("text"))))
        elif block.get("type") == "image_url" and scribe:
            found.append(scribe.picture(words(mapping(block.get("image_url")).get("url")), "a picture"))
    return found
