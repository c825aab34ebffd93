"""The model that a command uses, by the name that the person gives it."""

from __future__ import annotations

from deskagent.providers import catalog, kinds
from deskagent.providers.base import Provider


def opened(name: str) -> tuple[Provider, bool]:
    """The provider, and whether its server keeps the effort in front of a conversation. Errors: UsageError."""
    found, entry = catalog.read().find(name)
    return kinds.made(found, entry), entry.moves
