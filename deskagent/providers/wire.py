"""What is true of requests to any server: JSON that every parser takes, names and ids that no server refuses.

All of it works on the outgoing copy. What a model wrote stays as it is in the history.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from deskagent.messages import Answer, Call, Turn
from deskagent.providers.dialects import Dialect

UNREADABLE = "_unreadable_arguments"
"""The key under which a model sees again what it wrote where that was no JSON object."""


def encode(body: Mapping[str, Any]) -> bytes:
    """Compact JSON, keys in their order. Half of a surrogate pair, which no server takes, becomes a question mark."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", errors="replace")


def arguments(text: str) -> dict[str, Any]:
    """A call's arguments as an object, whatever the model wrote."""
    try:
        found = json.loads(text or "{}", parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError):
        return {UNREADABLE: text}
    return found if isinstance(found, dict) else {UNREADABLE: text}


def arguments_text(text: str) -> str:
    """As `arguments`, as JSON text: the model's own where that is a clean object, since its bytes are in a cache."""
    found = arguments(text)
    if UNREADABLE not in found and text and "\\ud" not in text.lower():
        return text
    return json.dumps(found, ensure_ascii=False).encode("utf-8", errors="replace").decode("utf-8")


def _refuse(name: str) -> None:
    raise ValueError(name)


def _finite(text: str) -> float:
    if (number := float(text)) in (float("inf"), float("-inf")):
        raise ValueError(text)
    return number


def tool_name(name: str) -> str:
    """A name that servers take: letters, digits, `_` and `-`, a letter or `_` first, 64 at most."""
    clean = re.sub("[^A-Za-z0-9_-]", "_", name)
    return (clean if re.match("[A-Za-z_]", clean) else f"_{clean}")[:64]


class Ids:
    """The ids that the calls of a conversation go by in a request: each as it is where the dialect takes it."""

    def __init__(self, dialect: Dialect) -> None:
        self._pattern = re.compile(dialect.id_pattern)
        self._numbered = dialect.numbered
        self._given: set[str] = set()

    def next(self, call: Call) -> str:
        """The id of the next call. No id is given twice."""
        if self._numbered:
            found = f"functions.{tool_name(call.name)[:40]}:{len(self._given)}"
        else:
            found, again = call.id, 0
            while found in self._given or not self._pattern.fullmatch(found):
                digest = hashlib.sha256(f"{call.id}\0{again}".encode("utf-8", errors="replace"))
                found, again = f"call_{digest.hexdigest()[:24]}", again + 1
        self._given.add(found)
        return found


def put(body: dict[str, Any], path: str, value: Any) -> None:
    """Sets `value` in `body` at `path`, keys with dots between."""
    *above, last = path.split(".")
    for key in above:
        body = body.setdefault(key, {})
    body[last] = value


def merge(body: dict[str, Any], more: Mapping[str, Any]) -> None:
    """Adds what is in `more` to `body`, deep; the mappings of `more` are never shared."""
    for key, value in more.items():
        if isinstance(value, Mapping):
            merge(body.setdefault(key, {}), value)
        else:
            body[key] = value


def call_ids(turns: Iterable[Turn]) -> frozenset[str]:
    """Every call's id in `turns`."""
    return frozenset(used.call.id for turn in turns if isinstance(turn, Answer) for used in turn.used)
