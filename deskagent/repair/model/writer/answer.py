"""What a writer is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from deskagent.repair.model.judge import Asked, Opinion


@dataclass(frozen=True, slots=True)
class Answer:
    """after: what the excerpt becomes."""

    after: str
    opinion: Opinion


@runtime_checkable
class Writer(Protocol):
    """Writes edits of an excerpt; a `Judge` may be one."""

    def proposals(self, asked: Asked, width: int) -> Sequence[Answer]:
        """Up to `width` edits, the likeliest first; each comes to another text. Errors: Gone."""
        ...
