"""A Markdown file with front matter: what stands between two lines of `---` says things about the text below it.

Front matter is YAML; where it is none, as in many files that people share, it is read as lines of `name: value`.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Any

_FENCE = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)(.*)\Z", re.DOTALL | re.MULTILINE)
_LINE = re.compile(r"([A-Za-z][\w-]*):[ \t]*(.*)")
_MOST_MATTER = 16_000


def bounded(path: Path, most: int) -> tuple[str, bool]:
    """The beginning of a file's text, at most so many bytes of it, and whether there is more. Errors: OSError, also for
    what is no regular file."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(f"{path.name} is no file")
        raw = file.read(most + 1)
    return raw[:most].decode("utf-8", "replace"), len(raw) > most


def split(text: str) -> tuple[dict[str, str | tuple[str, ...]], str]:
    """What the front matter says, words and lists of words alone, and the text below it."""
    found = _FENCE.match(text)
    if found is None or len(found[1]) > _MOST_MATTER:
        return {}, text
    whole = _yaml(found[1])
    kept = _lines(found[1]) if whole is None else whole
    return {str(name): value for name, value in kept.items() if value}, found[2].strip()


def words(value: str | tuple[str, ...] | None) -> tuple[str, ...]:
    """A list, or what is written as one with commas."""
    if value is None:
        return ()
    each = value.split(",") if isinstance(value, str) else value
    return tuple(filter(None, (one.strip() for one in each)))


def line(value: str | tuple[str, ...] | None, most: int) -> str:
    """A value as one line of at most so many characters."""
    whole = " ".join((value if isinstance(value, str) else " ".join(value or ())).split())
    return whole if len(whole) <= most else f"{whole[: most - 1]}…"


def _yaml(text: str) -> dict[str, str | tuple[str, ...]] | None:
    """None where it is no YAML, or no mapping."""
    import yaml

    try:
        found = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    return {str(name): _plain(value) for name, value in found.items()}


def _plain(value: Any) -> str | tuple[str, ...]:
    if isinstance(value, list):
        return tuple(str(each) for each in value if isinstance(each, str | int | float))
    return str(value) if isinstance(value, str | int | float) else ""


def _lines(text: str) -> dict[str, str | tuple[str, ...]]:
    pairs = (_LINE.fullmatch(each.rstrip()) for each in text.splitlines())
    return {pair[1]: pair[2].strip().strip("\"'") for pair in pairs if pair}
