"""A model's whole share in a search: the order of the candidates, and its own among them where it writes any."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.model.ahead import Ahead
from deskagent.repair.model.judge import Judge
from deskagent.repair.model.weights import Weights
from deskagent.repair.model.writer.answer import Writer
from deskagent.repair.model.writer.written import Written
from deskagent.repair.rank import Ranked
from deskagent.repair.types import Candidate


class Both:
    """An iterator over candidates; `close` ends the asking."""

    def __init__(
        self, ranked: Iterator[Ranked], judge: Judge, weights: Weights, failure: str, request: str
    ) -> None:
        self._written = Written(judge, weights, failure, request) if isinstance(judge, Writer) else None
        stream = ranked if self._written is None else self._written.watch(ranked)
        self._ahead = Ahead(stream, judge, weights, failure, request)
        self._stream = iter(self._ahead) if self._written is None else self._written.among(self._ahead)

    def __iter__(self) -> Iterator[Candidate]:
        return self

    def __next__(self) -> Candidate:
        return next(self._stream)

    def more(self, effort: int) -> None:
        """effort: of the search, from 0; the more, the more the model writes."""
        if self._written is not None:
            self._written.more(effort)

    def given_up(self) -> str:
        """Why the model was given up, said once; "" where it answers."""
        return self._ahead.given_up()

    def close(self) -> None:
        self._ahead.close()
        if self._written is not None:
            self._written.close()
