"""The base of every event of a session, and what stands for one that this version can't read."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """Base of every event. The journal sets `time` where it is 0."""

    sync: ClassVar[bool] = True
    time: float = 0.0


class Unknown(Event, frozen=True, tag="unknown"):
    """An event that this version doesn't know, or whose fields it can't read; `raw` is the whole of it."""

    sync: ClassVar[bool] = False
    raw: dict[str, Any]
