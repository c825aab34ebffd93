"""A flat batch out of what several sequences compute next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.batch import Batch
from engine.cache.pages import History
from kernels.layout import Sequences


@dataclass(frozen=True, slots=True)
class Run:
    """`tokens` that follow `history`, which has room for them. wanted: from which of them on outputs are asked for.
    images: (place in the sequence, [n, hidden]) pairs, also those that lie elsewhere."""

    history: History
    tokens: Sequence[int]
    wanted: int = 0
    images: tuple[tuple[int, Tensor], ...] = ()


def flat(runs: Sequence[Run], device: torch.device) -> Batch:
    """Outputs come run after run, each one's wanted rows in order."""
    histories = [run.history for run in runs]
    width = max(len(history.pages) for history in histories)
    table = torch.tensor([history.pages + [0] * (width - len(history.pages)) for history in histories])
    new = [len(run.tokens) for run in runs]
    lengths = [history.length + count for history, count in zip(histories, new, strict=True)]
    where = Sequences.of(new, lengths, [history.state for history in histories], table)
    wanted: list[int] = []
    images: list[tuple[int, Tensor]] = []
    row = 0
    for run in runs:
        images += _images(run, row)
        wanted += range(row + run.wanted, row + len(run.tokens))
        row += len(run.tokens)
    tokens = torch.tensor([token for run in runs for token in run.tokens], dtype=torch.int64)
    rows = torch.tensor(wanted, dtype=torch.int64)
    return Batch(tokens.to(device), where.to(device), rows.to(device), max(lengths), tuple(images))


def _images(run: Run, row: int) -> list[tuple[int, Tensor]]:
    """The images' rows that lie in a run whose first token is batch row `row`."""
    start = run.history.length
    found = []
    for place, image in run.images:
        first, last = max(place, start), min(place + image.shape[0], start + len(run.tokens))
        if first < last:
            found.append((row + first - start, image[first - place : last - place]))
    return found
