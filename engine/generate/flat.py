"""What several sequences compute next, in one pass: their flat batch, and its logits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.batch import Batch
from engine.cache.pages import History
from engine.generate.cuts import Floats
from engine.step import Steps
from kernels.layout import Sequences


@dataclass(frozen=True, slots=True)
class Run:
    """`tokens` that follow `history`, which has room for them. wanted: from which of them on outputs are asked for.
    images: (place in the sequence, [n, hidden]) pairs, also those that lie elsewhere."""

    history: History
    tokens: Sequence[int]
    wanted: int = 0
    images: tuple[tuple[int, Tensor], ...] = ()


def logits(steps: Steps, runs: Sequence[Run], device: torch.device) -> Floats:
    """[wanted rows of all runs, vocab] in main memory, which the next call may overwrite. One token a sequence goes to
    a recorded step as plain numbers."""
    if all(len(run.tokens) == 1 and run.wanted == 0 and not _images(run, 0) for run in runs):
        made = steps.replay(
            [run.tokens[0] for run in runs],
            [run.history.length + 1 for run in runs],
            [run.history.state for run in runs],
            [run.history.pages for run in runs],
        )
        if made is not None:
            return made
    with torch.inference_mode():
        return steps.forward(flat(runs, device)).cpu().numpy()


def flat(runs: Sequence[Run], device: torch.device) -> Batch:
    """Outputs come run after run, each one's wanted rows in order."""
    width = max(len(run.history.pages) for run in runs)
    starts, lengths, slots, table = [0], list[int](), list[int](), list[int]()
    tokens, wanted, images = list[int](), list[int](), list[tuple[int, Tensor]]()
    for run in runs:
        row, history = starts[-1], run.history
        starts.append(row + len(run.tokens))
        lengths.append(history.length + len(run.tokens))
        slots.append(history.state)
        table += history.pages + [0] * (width - len(history.pages))
        tokens += run.tokens
        wanted += range(row + run.wanted, starts[-1])
        images += _images(run, row)
    # Two tensors and views of them: a decode step of a small model is short against making eight.
    count = len(runs)
    numbers = torch.tensor(starts + lengths + slots + table, dtype=torch.int32).to(device)
    where = Sequences(
        numbers[: count + 1],
        numbers[count + 1 : 2 * count + 1],
        numbers[2 * count + 1 : 3 * count + 1],
        numbers[3 * count + 1 :].view(count, width),
        len(tokens) == count and all(len(run.tokens) == 1 for run in runs),
    )
    rows = torch.tensor(tokens + wanted, dtype=torch.int64).to(device)
    return Batch(rows[: len(tokens)], where, rows[len(tokens) :], max(lengths), tuple(images))


def _images(run: Run, row: int) -> list[tuple[int, Tensor]]:
    """The images' rows that lie in a run whose first token is batch row `row`."""
    start = run.history.length
    found = []
    for place, image in run.images:
        first, last = max(place, start), min(place + image.shape[0], start + len(run.tokens))
        if first < last:
            found.append((row + first - start, image[first - place : last - place]))
    return found
