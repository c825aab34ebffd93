"""The candidates of a repair in the order of trying: typed edits by suspicion, and what a checkpoint says of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from deskagent.agent.budget import Tier
from deskagent.agent.recorder import Recorder
from deskagent.agent.sources import Sources
from deskagent.repair.model.both import Both
from deskagent.repair.model.judge import Judge, failure_of
from deskagent.repair.model.weights import Weights
from deskagent.repair.pairs import Progress
from deskagent.repair.rank import iter_ranked
from deskagent.repair.types import Baseline, Candidate, Suspect, Verdict


class Stream:
    """`over` says whether the time for making candidates is up. `close` ends the asking."""

    def __init__(
        self, sources: Sources, request: str, model: tuple[Judge, Weights] | None, over: Callable[[], bool]
    ) -> None:
        self._sources, self._request, self._over = sources, request, over
        self._model = model
        self._both: Both | None = None
        self._progress: Progress | None = None

    def warm(self) -> None:
        """The checkpoint gets ready, without anybody waiting."""
        if self._model is not None:
            self._model[0].warm()

    def begin(self, baseline: Baseline, suspects: Sequence[Suspect]) -> Iterator[Candidate]:
        self._progress = Progress(baseline)
        ranked = iter_ranked(
            self._sources.read,
            suspects,
            request=self._request,
            baseline=baseline,
            progress=self._progress,
            over=self._over,
        )
        if self._model is None:
            return (one.candidate for one in ranked)
        self._both = Both(ranked, *self._model, failure_of(baseline), self._request)
        return self._both

    def failed(self, candidate: Candidate, verdict: Verdict) -> None:
        """What a candidate that failed says of those to come."""
        if self._progress is not None:
            self._progress.note(candidate, verdict)

    def more(self, tier: Tier) -> None:
        """The search climbs; a checkpoint that writes then writes more."""
        if self._both:
            self._both.more(list(Tier).index(tier))

    def tell(self, recorder: Recorder) -> None:
        """Says why the checkpoint was given up, once."""
        if self._both and (said := self._both.given_up()):
            recorder.notice("warning", said)

    def close(self) -> None:
        if self._both:
            self._both.close()
