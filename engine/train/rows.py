"""What a training step reads: several sequences one after the other, without padding."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from torch import Tensor


@dataclass(frozen=True, slots=True)
class Rows:
    """tokens: [T] int64. learn: [T] bool, whether the token is predicted from what stands before it; a sequence's
    first token has nothing before it, so it is never learnt. starts: [sequences + 1] int64, cumulative from 0 to T.
    kinds: a name a sequence (`lm`, `fim`, `bug` …), by which losses are told apart. parents: [sequences] int64, which
    sequence one goes on from, −1 for none; None where all are such. Those that go on from one stand behind it, are
    answers to choose from as hand-made priors order them, and one of them is learnt: the right one."""

    tokens: Tensor
    learn: Tensor
    starts: Tensor
    kinds: tuple[str, ...]
    parents: Tensor | None = None


class Source(Protocol):
    """Rows without end, which a later process can go on with from where this one was."""

    def __iter__(self) -> Iterator[Rows]: ...

    def __next__(self) -> Rows: ...

    def state(self) -> dict[str, Any]:
        """What `restore` needs so that the next rows are those that would have come now; JSON can hold it."""
        ...

    def restore(self, state: dict[str, Any]) -> None: ...
