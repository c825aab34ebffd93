"""What the readers of all streams share: counting an answer's parts, and ids of calls that are unique in a session."""

from __future__ import annotations

import json
import re
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from deskagent.providers import errors
from deskagent.providers.base import CallDelta, Delta, ProviderError, Stop, Stopped, Trouble
from deskagent.providers.dialects import Dialect
from deskagent.providers.sse import Event

_LASTING = re.compile("[A-Za-z0-9_-]{16,64}")
"""Ids of servers that aren't used again later: `Agent:0` and `call_1` are."""


def own_id() -> str:
    return f"call_{secrets.token_hex(12)}"


class Reader(ABC):
    """Makes deltas of a stream's events.

    taken: ids of the conversation's calls. whole: the answer's end was seen; more than usage doesn't follow. done: no
    event follows.
    """

    def __init__(
        self, dialect: Dialect, taken: frozenset[str] = frozenset(), new_id: Callable[[], str] = own_id
    ) -> None:
        self.dialect = dialect
        self.whole = self.done = False
        self.stop = Stop.END
        self._ids = set(taken)
        self._new_id = new_id
        self._parts: dict[Hashable, int] = {}
        self._called = False

    def take(self, event: Event) -> list[Delta]:
        """Errors: ProviderError, for what the server reports and for what isn't JSON."""
        if event.data.strip() == "[DONE]":
            self.whole = self.done = True
            return []
        if not event.data.strip():
            return []
        try:
            data = json.loads(event.data)
        except (ValueError, RecursionError):
            raise broken("The server sent what isn't JSON", event.data) from None
        if not isinstance(data, dict):
            return []
        if (error := data.get("error")) and data.get("type") in (None, "error"):
            raise errors.reported(error, event.data)
        return self.read(data)

    @abstractmethod
    def read(self, data: Mapping[str, Any]) -> list[Delta]:
        """The deltas of one event."""

    def rest(self) -> list[Delta]:
        """What was held back."""
        return []

    def end(self, raw: bytes = b"") -> list[Delta]:
        """The last deltas, once no more events come. Errors: ProviderError where the answer isn't whole."""
        if not self.whole:
            raise ProviderError(Trouble.NETWORK, "The server's answer broke off before its end.", raw=raw)
        rest = self.rest()
        stop = Stop.CALLS if self._called and self.stop is Stop.END else self.stop
        return [*rest, Stopped(stop, raw)]

    def part(self, key: Hashable) -> int:
        """The number of the part that `key` names; a new one begins a part."""
        return self._parts.setdefault(key, len(self._parts))

    def begun(self, key: Hashable) -> bool:
        return key in self._parts

    def call(self, key: Hashable, given: str, name: str, arguments: str = "") -> CallDelta:
        """The first delta of a call, under the server's id or, where that won't do, one of ours."""
        self._called = True
        fits = _LASTING.fullmatch(given) and given not in self._ids
        made = given if fits else self._new_id()
        self._ids.add(made)
        raw = {} if made == given else {"id": given}
        return CallDelta(self.part(key), made, name, arguments, raw)


def broken(what: str, data: str) -> ProviderError:
    shown = data if len(data) <= 200 else f"{data[:200]} …"
    return ProviderError(
        Trouble.BROKEN,
        f"{what}: {shown}",
        hint="Is the base URL that of a model's API, and the kind of server right?",
        raw=data.encode("utf-8", "replace"),
    )


def text(value: Any) -> str:
    """A text of a stream; "" for what is no text."""
    return value if isinstance(value, str) else ""


def number(value: Any) -> int:
    return int(value) if isinstance(value, int | float) and value > 0 else 0


def mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
