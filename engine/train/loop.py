"""The loop: steps, evaluations, checkpoints, until the steps or the time are up."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.train import checkpoints
from engine.train.log import Log
from engine.train.rows import Rows, Source
from engine.train.trainer import Trainer

Held = Callable[[], Iterable[Rows]]
"""The same held-out rows each time."""


def run(
    trainer: Trainer,
    source: Source,
    held: Held,
    folder: Path,
    *,
    seconds: float | None = None,
    measure_first: bool = False,
    say: Callable[[str], None] = print,
) -> None:
    """Trains from `trainer.step` to the settings' steps and leaves a checkpoint at the end; so does SIGINT or SIGTERM,
    after the step that is under way, and the end of `seconds`. measure_first: whether the held-out losses are also told
    before the first step."""
    settings = trainer.settings
    log = Log(folder, trainer.step)
    end = None if seconds is None else time.monotonic() + seconds
    with _asked_to_stop() as asked:
        if measure_first:
            log.add(_evaluated(trainer, held, say))
        while trainer.step < settings.steps and not asked() and (end is None or time.monotonic() < end):
            began = time.monotonic()
            rate = settings.rate(trainer.step)
            batches = [next(source) for _ in range(settings.accumulate)]
            waited = time.monotonic() - began
            told = trainer.train(batches)
            took = time.monotonic() - began
            line = {"step": trainer.step, "lr": rate, **told.words(), "norm": round(told.norm, 3)}
            line |= {
                "seconds": round(took, 3),
                "waited": round(waited, 3),
                "speed": round(told.tokens / took),
            }
            log.add(line)
            say(_words(line))
            if trainer.step % settings.evaluate_every == 0 or trainer.step == settings.steps:
                log.add(_evaluated(trainer, held, say))
            if trainer.step % settings.save_every == 0 and trainer.step < settings.steps:
                checkpoints.write(trainer, folder, source.state())
                checkpoints.prune(folder, settings.keep)
    checkpoints.write(trainer, folder, source.state())
    checkpoints.prune(folder, settings.keep)
    log.close()


def _evaluated(trainer: Trainer, held: Held, say: Callable[[str], None]) -> dict[str, object]:
    told, recall = trainer.evaluate(held())
    line: dict[str, object] = {"step": trainer.step, "held": told.words(), "recall": recall.means()}
    say(f"step {trainer.step}  held out {told.words()}  recall {recall.means()}")
    return line


def _words(line: dict[str, object]) -> str:
    shown = ("loss", "kinds", "divergence", "fullest", "norm", "speed")
    return f"step {line['step']}  " + "  ".join(f"{key} {line[key]}" for key in shown)


@contextmanager
def _asked_to_stop() -> Iterator[Callable[[], bool]]:
    asked: list[int] = []
    before = {number: signal.signal(number, lambda number, _: asked.append(number)) for number in _SIGNALS}
    try:
        yield lambda: bool(asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_SIGNALS = (signal.SIGINT, signal.SIGTERM)
