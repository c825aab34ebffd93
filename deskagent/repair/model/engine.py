"""The engine's process as judge: started by the first question, shared between runs, gone when idle."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from deskagent import served
from deskagent.repair.model.judge import Asked, Gone, Opinion
from deskagent.repair.model.writer.answer import Answer

if TYPE_CHECKING:
    from engine.process.client import Client
    from engine.tokenizer import Tokenizer

_THREADS, _NICE = 1, 5
"""The tests of two candidates run beside it, and come first."""
_PAGES, _RAM, _IDLE = 512, 64 << 20, 600
_SILENCE = 60.0
"""Seconds a question: one takes a tenth of a second on a quiet machine."""
_TRIES = 2
_PIECE = 1024
"""Tokens of a text that are read at once."""
_Found = TypeVar("_Found")


class EngineJudge:
    """Asks the checkpoint in `folder`. Any number of threads may ask, one at a time."""

    def __init__(self, checkpoint: Path, *more: str) -> None:
        """more: options of the engine's process."""
        self._checkpoint, self._more = checkpoint.absolute(), more
        self._lock = threading.Lock()
        self._client: Client | None = None
        self._tokenizer: Tokenizer | None = None

    @property
    def pid(self) -> int | None:
        """The process that answered last."""
        return self._client.pid if self._client is not None else None

    def warm(self) -> None:
        """Has the process started and the checkpoint loaded, without waiting for it."""
        threading.Thread(target=self._first, name="model-start", daemon=True).start()

    def opinions(self, asked: Asked, after: Sequence[str]) -> Sequence[Opinion]:
        """As Judge. A process that ended on the way is asked once more, which starts it anew."""
        return self._asked(lambda: self._opinions(asked, after))

    def proposals(self, asked: Asked, width: int) -> Sequence[Answer]:
        """As Writer. Errors: Gone."""
        return self._asked(lambda: self._proposals(asked, width))

    def likelihood(self, text: str) -> Opinion:
        """Of a text by itself: of all its tokens but the first of each piece of 1,024. Errors: Gone."""
        return self._asked(lambda: self._likelihood(text))

    def _asked(self, ask: Callable[[], _Found]) -> _Found:
        from engine.errors import EngineError, LostError

        with self._lock:
            for tries in range(1, _TRIES + 1):
                try:
                    return ask()
                except LostError as error:
                    self._client = self._tokenizer = None  # the checkpoint may be another one by now
                    if tries == _TRIES:
                        raise Gone(f"The model answers no more: {error}") from error
                except (EngineError, OSError, ValueError) as error:
                    raise Gone(f"The model can't be asked: {error}") from error
        raise AssertionError("every try returns or raises")

    def _first(self) -> None:
        try:
            self.opinions(Asked("", "pass"), ["pass"])
        except Exception:
            return  # whoever asks a true question is told

    def _opinions(self, asked: Asked, after: Sequence[str]) -> Sequence[Opinion]:
        from engine.process import wire
        from engine.prompt import Marker, encode
        from engine.prompt.edits import between, write

        client, tokenizer = self._opened()
        context = self._context(asked)
        answers = [
            encode([write(between(asked.excerpt, text)), Marker.CLOSE], tokenizer).tokens for text in after
        ]
        found = client.score(wire.Score(context, answers))
        if len(found) != len(answers):
            raise Gone(f"The model gave {len(found)} answers to {len(answers)} questions")
        return [Opinion(sum(tokens), len(tokens)) for tokens in found]

    def _proposals(self, asked: Asked, width: int) -> Sequence[Answer]:
        from engine.process import wire
        from engine.prompt import Marker
        from engine.prompt.edits import apply, parse

        client, tokenizer = self._opened()
        stop = tokenizer.marker(Marker.CLOSE.value)
        found = client.propose(wire.Propose(self._context(asked), asked.excerpt, stop, width))
        return [
            Answer(apply(parse(text), asked.excerpt), Opinion(loglik, tokens))
            for text, loglik, tokens in found
        ]

    def _context(self, asked: Asked) -> list[int]:
        """A question's tokens, up to where the answer begins."""
        from engine.prompt import encode, render
        from engine.prompt.repair import Question, ask

        question = Question(asked.path, asked.excerpt, asked.failure, asked.request)
        return encode(render(ask(question)), self._opened()[1]).tokens

    def _likelihood(self, text: str) -> Opinion:
        from engine.process import wire

        client, tokenizer = self._opened()
        tokens = tokenizer.encode(text)
        pieces = [tokens[at : at + _PIECE] for at in range(0, len(tokens), _PIECE)]
        found = [client.score(wire.Score(piece[:1], [piece[1:]]))[0] for piece in pieces if len(piece) > 1]
        return Opinion(sum(map(sum, found)), sum(map(len, found)))

    def _opened(self) -> tuple[Client, Tokenizer]:
        """Errors: EngineError, OSError."""
        from engine import tokenizer

        if self._tokenizer is None:
            self._tokenizer = tokenizer.load(self._checkpoint)
        if self._client is None:
            self._client = served.client(self._checkpoint, self._options(), _SILENCE)
        return self._client, self._tokenizer

    def _options(self) -> list[str]:
        sizes = ["--pages", str(_PAGES), "--ram", str(_RAM), "--idle", str(_IDLE)]
        manners = ["--threads", str(_THREADS), "--nice", str(_NICE)]
        return [*sizes, *manners, *self._more]
