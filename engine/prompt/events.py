"""What an answer tells as it comes, in whatever format it is written."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Said:
    """Some more thinking or text."""

    kind: Literal["thinking", "text"]
    text: str


@dataclass(frozen=True, slots=True)
class Calling:
    """A tool call has begun, or goes on: some more text of an argument (key None: of the whole JSON object)."""

    index: int
    name: str
    key: str | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Called:
    """A tool call. error: why it can't be made as it is; empty where it can. `arguments` hold what was understood.
    id: the model's own, in formats that have one: as `Call.id` it makes a later prompt say the same tokens again."""

    index: int
    name: str
    arguments: dict[str, Any]
    error: str = ""
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """whole: the message was closed; otherwise it was cut off."""

    whole: bool


Event = Said | Calling | Called | Ended


def parsed(text: str) -> Any:
    """Errors: ValueError or RecursionError for what is no JSON, as NaN isn't."""
    return json.loads(text, parse_constant=_refuse)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no number")
