"""opencode: `~/.local/share/opencode` and `~/.config/opencode` (by XDG_DATA_HOME and XDG_CONFIG_HOME).

| what | where |
|---|---|
| sessions | `opencode.db`: tables session, message, part, the last two with JSON in `data`; |
| | of older versions `storage/session/<project>/<id>.json`, `storage/message/<session>/`, `storage/part/<message>/` |
| instructions | `AGENTS.md` beside the settings |
| MCP servers, rules | `opencode.json` or `opencode.jsonc`: `mcp`, `permission` |
| skills | `skill/<name>/SKILL.md`, `skills/…` |

Sessions of subagents have a `parentID` and stay there. An answer with `summary` is what came before it from then on.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from deskagent.imports import lines, rules, servers
from deskagent.imports.found import Found, Session
from deskagent.imports.lines import items, mapping, moment, words
from deskagent.imports.scribe import Scribe
from deskagent.imports.skills import skills
from deskagent.messages import Author, Call, Outcome, Part, Result, Text, Thinking

Row = dict[str, Any]
_NAMES = ("config.json", "opencode.json", "opencode.jsonc")


def look(home: Path) -> Found:
    """home: the person's home folder."""
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local/share") / "opencode"
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "opencode"
    found = Found(data)
    seen: set[str] = set()
    for session in (*_in_database(data, found), *_in_files(data)):
        if session.key not in seen:
            seen.add(session.key)
            found.sessions.append(session)
    found.instructions += [path for path in (config / "AGENTS.md",) if path.is_file()]
    for name in _NAMES:
        settings = lines.document(config / name)
        servers.take(found, settings.get("mcp"))
        rules.opencode(found, settings.get("permission"))
    for name in ("skill", "skills"):
        found.skills += skills(config / name)
    return found


def _in_database(data: Path, found: Found) -> list[Session]:
    path = data / "opencode.db"
    if not path.is_file():
        return []
    try:
        with contextlib.closing(_open(path)) as base:
            rows = base.execute("SELECT * FROM session").fetchall()
            return [
                session
                for row in map(dict, rows)
                if (session := _session(_info(row), path, functools.partial(_rows, path, row["id"])))
            ]
    except (sqlite3.Error, KeyError, IndexError) as error:
        found.notes.append(f"{path.name} can't be read: {error}.")
        return []


def _info(row: Row) -> Row:
    """A row of the database as the files have it."""
    more = mapping(lines.parsed(row["data"])) if isinstance(row.get("data"), str) else {}
    return more | {
        "id": row.get("id"),
        "parentID": row.get("parent_id"),
        "directory": row.get("directory") or more.get("directory"),
        "title": row.get("title") or more.get("title"),
        "time": {"created": row.get("time_created")},
    }


def _open(path: Path) -> sqlite3.Connection:
    """For reading alone. A database that isn't being written is taken as it is, so that no file is made beside it."""
    busy = path.with_name(path.name + "-wal").exists()
    base = sqlite3.connect(f"file:{quote(str(path))}?mode=ro{'' if busy else '&immutable=1'}", uri=True)
    base.row_factory = sqlite3.Row
    base.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return base


def _in_files(data: Path) -> Iterator[Session]:
    storage = data / "storage"
    for path in sorted(storage.glob("session/*/*.json")):
        info = lines.document(path)
        key = words(info.get("id")) or path.stem
        if session := _session(info | {"id": key}, path, functools.partial(_files, storage, key)):
            yield session


def _session(info: Row, path: Path, messages: Any) -> Session | None:
    cwd = words(info.get("directory"))
    if not cwd or info.get("parentID") or not words(info.get("id")):
        return None
    started = moment(mapping(info.get("time")).get("created"))
    read = functools.partial(_read, messages)
    return Session(words(info["id"]), cwd, words(info.get("title")), started, lines.size(path), read)


def _rows(path: Path, session: str, lost: lines.Lost) -> Iterator[tuple[Row, list[Row]]]:
    """Messages with their parts, from the database."""
    try:
        with contextlib.closing(_open(path)) as base:
            told = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
            for message in base.execute(told, (session,)):
                parts = base.execute(
                    "SELECT data FROM part WHERE message_id = ? ORDER BY id", (message["id"],)
                )
                found = [lines.parsed(part["data"]) for part in parts if isinstance(part["data"], str)]
                lost.count += sum(not isinstance(part, dict) for part in found)
                info = mapping(lines.parsed(message["data"]) if isinstance(message["data"], str) else None)
                lost.count += not info
                yield info | {"id": message["id"]}, [part for part in found if isinstance(part, dict)]
    except sqlite3.Error:
        lost.count += 1


def _files(storage: Path, session: str, lost: lines.Lost) -> Iterator[tuple[Row, list[Row]]]:
    """Messages with their parts, from files. Ids rise with time."""
    for path in sorted((storage / "message" / session).glob("*.json")):
        parts = [lines.document(part) for part in sorted((storage / "part" / path.stem).glob("*.json"))]
        info = lines.document(path)
        lost.count += (not info) + sum(not part for part in parts)
        yield info | {"id": path.stem}, parts


def _read(messages: Any, scribe: Scribe) -> int:
    lost = lines.Lost()
    for info, parts in messages(lost):
        time = moment(mapping(info.get("time")).get("created"))
        if info.get("role") == "user":
            _said(parts, time, scribe)
        elif info.get("role") == "assistant" and info.get("summary") is True:
            texts = (words(part.get("text")) for part in parts if part.get("type") == "text")
            scribe.summary("\n\n".join(texts), time)
        elif info.get("role") == "assistant":
            _answer(info, parts, time, scribe)
    return lost.count


def _said(parts: list[Row], time: float, scribe: Scribe) -> None:
    for synthetic in (False, True):
        found: list[Part] = []
        for part in parts:
            if bool(part.get("synthetic")) != synthetic or part.get("ignored"):
                continue
            if part.get("type") == "text":
                found.append(Text(words(part.get("text"))))
            elif part.get("type") == "file":
                found.append(_file(part, scribe))
        scribe.said(tuple(found), Author.DESKAGENT if synthetic else Author.PERSON, time)


def _file(part: Row, scribe: Scribe) -> Part:
    name = words(part.get("filename")) or words(part.get("url"))[:200]
    if words(part.get("mime")).startswith("image/"):
        return scribe.picture(words(part.get("url")), name)
    return Text(f"[A file was given here: {name}.]")


def _answer(info: Row, parts: list[Row], time: float, scribe: Scribe) -> None:
    model = f"{words(info.get('providerID')) or 'opencode'}/{words(info.get('modelID')) or 'unknown'}"
    step = 0
    for part in parts:
        kind, answer = part.get("type"), f"{info.get('id')} {step}"
        if kind == "step-start":
            step += 1
        elif kind == "reasoning":
            meta = mapping(mapping(part.get("metadata")).get("anthropic"))
            signed = {"signature": words(meta.get("signature"))} if words(meta.get("signature")) else {}
            label = "thinking" if signed else "reasoning_content"
            scribe.part(Thinking(words(part.get("text")), label, signed), model, answer=answer, time=time)
        elif kind == "text" and not part.get("ignored"):
            scribe.part(Text(words(part.get("text"))), model, answer=answer, time=time)
        elif kind == "tool":
            state = mapping(part.get("state"))
            asked = json.dumps(state.get("input") or {}, ensure_ascii=False)
            call = words(part.get("callID"))
            scribe.part(Call(call, words(part.get("tool")), asked), model, answer=answer, time=time)
            if result := _result(state, scribe):
                scribe.result(call, result, time)


def _result(state: Row, scribe: Scribe) -> Result | None:
    """None where the tool was at work when the session was left."""
    if state.get("status") == "completed":
        files = [_file(each, scribe) for each in items(state.get("attachments"))]
        return Result(Outcome.DONE, (Text(words(state.get("output"))), *files))
    if state.get("status") == "error":
        return Result.of(words(state.get("error")) or "It failed.", Outcome.FAILED)
    return None
