"""Files of other programs read whatever state they are in: half written, of other versions, or no such file at all."""

from __future__ import annotations

import datetime
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

MOST = 64 << 20
"""Bytes of a line, or of a whole settings file, that are looked at: pictures stand in lines too."""


class Lost:
    """Counts what couldn't be read."""

    def __init__(self) -> None:
        self.count = 0


def objects(path: Path, lost: Lost) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file of JSON lines, each with the number of its line from 0. What is none is counted."""
    try:
        with path.open("rb") as file:
            number = -1
            while raw := file.readline(MOST + 1):
                number += 1
                whole = True
                while len(raw) > MOST and not raw.endswith(b"\n"):
                    raw, whole = file.readline(MOST + 1), False
                if not raw.strip():
                    continue
                found = parsed(raw) if whole else None
                if isinstance(found, dict):
                    yield number, found
                else:
                    lost.count += 1
    except OSError:
        lost.count += 1


def parsed(raw: bytes | str) -> Any:
    """A JSON value, None where it is none. Lone surrogates, as JavaScript writes them, are kept."""
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        pass  # Python's own reader takes more
    try:
        return json.loads(raw if isinstance(raw, str) else raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def document(path: Path) -> dict[str, Any]:
    """A settings file: JSON, with comments and commas too many where there are, or TOML by its name. {} where there is
    none that can be read."""
    try:
        if not path.is_file() or path.stat().st_size > MOST:
            return {}
        text = path.read_text("utf-8", "replace").removeprefix("\ufeff")
        if path.suffix == ".toml":
            return tomllib.loads(text)
    except (OSError, ValueError, RecursionError):
        return {}
    found = parsed(text)
    return mapping(found if found is not None else parsed(_without_comments(text)))


def mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[dict[str, Any]]:
    """The objects in a list."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def words(value: Any) -> str:
    return value if isinstance(value, str) else ""


def strings(value: Any) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def moment(value: Any) -> float:
    """A time as Unix seconds: ISO 8601, seconds or milliseconds; 0.0 where it is none."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e15:
        return value / 1000 if value > 1e11 else float(value)
    try:
        return max(0.0, datetime.datetime.fromisoformat(words(value)).timestamp())
    except (ValueError, OverflowError, OSError):
        return 0.0


def size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _without_comments(text: str) -> str:
    """JSON with comments as plain JSON: strings are gone through, so that nothing in one is taken for a comment."""
    found: list[str] = []
    at = 0
    while at < len(text):
        if text[at] == '"':
            end = at + 1
            while end < len(text) and text[end] != '"':
                end += 2 if text[end] == "\\" else 1
            found.append(text[at : end + 1])
            at = end + 1
        elif text.startswith("//", at):
            at = _after(text, "\n", at, keep=True)
        elif text.startswith("/*", at):
            at = _after(text, "*/", at + 2)
        elif text[at] == "," and _closes(text, at + 1):
            at += 1
        else:
            found.append(text[at])
            at += 1
    return "".join(found)


def _after(text: str, mark: str, at: int, *, keep: bool = False) -> int:
    end = text.find(mark, at)
    return len(text) if end < 0 else end if keep else end + len(mark)


def _closes(text: str, at: int) -> bool:
    """Whether what comes next, but for comments, is the end of a list or an object."""
    while at < len(text):
        if text[at].isspace():
            at += 1
        elif text.startswith("//", at):
            at = _after(text, "\n", at)
        elif text.startswith("/*", at):
            at = _after(text, "*/", at + 2)
        else:
            return text[at] in "]}"
    return False
