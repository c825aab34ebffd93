"""Claude Code: `~/.claude` (or CLAUDE_CONFIG_DIR), and `.claude.json` in the home folder.

| what | where |
|---|---|
| sessions | `projects/<folder>/<id>.jsonl`: an entry a line, each naming the one before by `parentUuid` |
| instructions | `CLAUDE.md` |
| MCP servers | `.claude.json`: `mcpServers`, and those of each project under `projects` |
| rules | `settings.json`: `permissions` with `allow`, `ask`, `deny` |
| hooks | `settings.json`: `hooks` |
| skills | `skills/<name>/SKILL.md` |

A rewound conversation leaves branches in the file: the one that ends last is the conversation.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deskagent.imports import hooks, lines, rules, servers
from deskagent.imports.found import Found, Session
from deskagent.imports.lines import items, mapping, moment, strings, words
from deskagent.imports.scribe import Scribe
from deskagent.imports.skills import skills
from deskagent.messages import Author, Call, Outcome, Part, Result, Text, Thinking

_LOOK = 200
"""Lines in which a session says where it was and what it was about."""
_OURS = ("<command-", "<local-command-", "<system-reminder>", "<bash-", "Caveat: ")
"""How words begin that the program put into the person's mouth."""


def look(home: Path) -> Found:
    """home: the person's home folder."""
    folder = Path(os.environ.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    found = Found(folder)
    for path in sorted(folder.glob("projects/*/*.jsonl")):
        if path.is_file() and not path.name.startswith("agent-"):
            found.sessions += _session(path)
    found.instructions += [path for path in (folder / "CLAUDE.md",) if path.is_file()]
    own = lines.document(folder / ".claude.json") or lines.document(home / ".claude.json")
    for settings in (own, *map(mapping, mapping(own.get("projects")).values())):
        servers.take(found, settings.get("mcpServers"))
    settings = mapping(lines.document(folder / "settings.json").get("permissions"))
    for kind in ("allow", "ask", "deny"):
        rules.take(found, kind, rules.claude, strings(settings.get(kind)))
    if mode := words(settings.get("defaultMode")):
        found.notes.append(f"The permission mode {mode} stays there: see --permission-mode.")
    hooks.take(found, lines.document(folder / "settings.json").get("hooks"))
    found.skills += skills(folder / "skills")
    return found


def _session(path: Path) -> list[Session]:
    cwd = title = ""
    started = 0.0
    lost = lines.Lost()
    for number, entry in lines.objects(path, lost):
        cwd = cwd or words(entry.get("cwd"))
        started = started or moment(entry.get("timestamp"))
        if not title and entry.get("type") == "user" and not entry.get("isMeta"):
            said = [part.text for part in _spoken(entry, None) if isinstance(part, Text)]
            title = next((text for text in said if not text.startswith(_OURS)), "")
        if (cwd and title) or number > _LOOK:
            break
    if not cwd:
        return []  # no conversation: summaries alone, or no session at all
    return [Session(path.stem, cwd, title, started, lines.size(path), functools.partial(_read, path))]


@dataclass
class _Thread:
    """What of a file belongs to the conversation: entries by uuid, messages and calls that they are of."""

    parents: dict[str, str] = field(default_factory=dict)
    last: str = ""
    kept: set[str] = field(default_factory=set)

    def note(self, entry: dict[str, Any]) -> None:
        name = words(entry.get("uuid"))
        if not name:
            return
        self.parents[name] = words(entry.get("parentUuid")) or words(entry.get("logicalParentUuid"))
        if entry.get("type") in ("user", "assistant") and not entry.get("isSidechain"):
            self.last = name

    def follow(self) -> None:
        at = self.last
        while at and at not in self.kept:
            self.kept.add(at)
            at = self.parents.get(at, "")
        self.parents.clear()


def _read(path: Path, scribe: Scribe) -> int:
    lost = lines.Lost()
    thread = _Thread()
    for _, entry in lines.objects(path, lost):
        thread.note(entry)
    thread.follow()
    messages: set[str] = set()
    calls: set[str] = set()
    for _, entry in lines.objects(path, lines.Lost()):
        if entry.get("isSidechain") or entry.get("type") not in ("user", "assistant"):
            continue
        message = mapping(entry.get("message"))
        name, time = words(message.get("id")), moment(entry.get("timestamp"))
        blocks = items(message.get("content"))
        own = words(entry.get("uuid")) in thread.kept or not entry.get("uuid")
        if entry["type"] == "assistant":
            # answers with several calls are lines of one message, of which only the last is in the thread
            if own or (name and name in messages):
                messages.add(name)
                calls |= {words(block.get("id")) for block in blocks if block.get("type") == "tool_use"}
                _answer(message, blocks, name, time, scribe)
            continue
        for block in blocks:
            if block.get("type") == "tool_result" and (own or words(block.get("tool_use_id")) in calls):
                scribe.result(words(block.get("tool_use_id")), _result(block, scribe), time)
        if own:
            _said(entry, time, scribe)
    return lost.count


def _said(entry: dict[str, Any], time: float, scribe: Scribe) -> None:
    parts = tuple(_spoken(entry, scribe))
    if entry.get("isCompactSummary"):
        scribe.summary("\n\n".join(part.text for part in parts if isinstance(part, Text)), time)
        return
    first = next((part.text for part in parts if isinstance(part, Text)), "")
    person = not entry.get("isMeta") and not first.startswith(_OURS)
    scribe.said(parts, Author.PERSON if person else Author.DESKAGENT, time)


def _spoken(entry: dict[str, Any], scribe: Scribe | None) -> Iterator[Part]:
    content = mapping(entry.get("message")).get("content")
    if isinstance(content, str):
        yield Text(content)
    for block in items(content):
        if block.get("type") != "tool_result" and (part := _part(block, scribe)):
            yield part


def _part(block: dict[str, Any], scribe: Scribe | None) -> Part | None:
    match block.get("type"):
        case "text":
            return Text(words(block.get("text")))
        case "image" if scribe:
            return scribe.picture(words(mapping(block.get("source")).get("data")), "a picture")
        case "document":
            return Text("[A document was here that wasn't brought over.]")
        case _:
            return None


def _answer(
    message: dict[str, Any], blocks: list[dict[str, Any]], name: str, time: float, scribe: Scribe
) -> None:
    model = f"anthropic/{words(message.get('model')) or 'claude'}"
    for block in blocks:
        part: Thinking | Text | Call | None = None
        match block.get("type"):
            case "thinking":
                signature = words(block.get("signature"))
                raw = {"signature": signature} if signature else {}
                part = Thinking(words(block.get("thinking")), "thinking", raw)
            case "redacted_thinking":
                part = Thinking("", "redacted_thinking", {"data": words(block.get("data"))})
            case "text":
                part = Text(words(block.get("text")))
            case "tool_use":
                asked = json.dumps(block.get("input") or {}, ensure_ascii=False)
                part = Call(words(block.get("id")), words(block.get("name")), asked)
        if part is not None:
            scribe.part(part, model, answer=name, time=time)


def _result(block: dict[str, Any], scribe: Scribe) -> Result:
    content = block.get("content")
    parts = [Text(content)] if isinstance(content, str) else [_part(each, scribe) for each in items(content)]
    outcome = Outcome.FAILED if block.get("is_error") is True else Outcome.DONE
    return Result(outcome, tuple(part for part in parts if part is not None))
