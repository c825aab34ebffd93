"""The engine's process as judge: started by the first question, shared between runs, gone when idle."""

from __future__ import annotations

import hashlib
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from deskagent.paths import runtime_dir
from deskagent.repair.model.judge import Asked, Gone, Opinion

if TYPE_CHECKING:
    from engine.process.client import Client
    from engine.tokenizer import Tokenizer

_THREADS = 1
"""The tests of two candidates run beside it."""
_PAGES, _RAM, _IDLE = 512, 64 << 20, 600
_TRIES = 2


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
        from engine.errors import EngineError, LostError

        with self._lock:
            for tries in range(1, _TRIES + 1):
                try:
                    return self._opinions(asked, after)
                except LostError as error:
                    if tries == _TRIES:
                        raise Gone(f"The model answers no more: {error}") from error
                except (EngineError, OSError, ValueError) as error:
                    raise Gone(f"The model can't be asked: {error}") from error
        raise AssertionError("every try returns or raises")

    def _first(self) -> None:
        try:
            self.opinions(Asked("", "pass"), ["pass"])
        except Gone:
            pass  # whoever asks a true question is told

    def _opinions(self, asked: Asked, after: Sequence[str]) -> Sequence[Opinion]:
        from engine.process import wire
        from engine.prompt import Marker, encode, render
        from engine.prompt.edits import between, write
        from engine.prompt.repair import Question, ask

        client, tokenizer = self._opened()
        question = Question(asked.path, asked.excerpt, asked.failure, asked.request)
        context = encode(render(ask(question)), tokenizer).tokens
        answers = [
            encode([write(between(asked.excerpt, text)), Marker.CLOSE], tokenizer).tokens for text in after
        ]
        found = client.score(wire.Score(context, answers))
        return [Opinion(sum(tokens), len(tokens)) for tokens in found]

    def _opened(self) -> tuple[Client, Tokenizer]:
        """Errors: EngineError, OSError."""
        from engine import tokenizer
        from engine.process.client import Client

        if self._tokenizer is None:
            self._tokenizer = tokenizer.load(self._checkpoint)
        if self._client is None:
            name = hashlib.sha256(str(self._checkpoint).encode()).hexdigest()[:12]
            folder = runtime_dir() / name
            self._client = Client(folder, self._command(folder))
        return self._client, self._tokenizer

    def _command(self, folder: Path) -> list[str]:
        process = [sys.executable, "-m", "engine.process", str(folder), str(self._checkpoint)]
        sizes = ["--pages", str(_PAGES), "--ram", str(_RAM), "--idle", str(_IDLE)]
        return [*process, *sizes, "--threads", str(_THREADS), *self._more]
