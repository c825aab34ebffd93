"""The paged caches: a sequence's entries lie in pages of a pool, in any order."""

from __future__ import annotations

import torch
from torch import Tensor

from kernels.layout import Sequences
from kernels.reference.norm import layer_norm, rms_norm


def gathered(pages: Tensor, row: Tensor, length: int) -> Tensor:
    """The first `length` entries of one sequence. pages: [P, page, W]; row: [M] page numbers. Gives [length, W]."""
    size = pages.shape[1]
    count = -(-length // size)
    return pages[row[:count].long()].reshape(count * size, pages.shape[-1])[:length]


def write_latents(kv: Tensor, weight: Tensor, eps: float, pages: Tensor, sequences: Sequences) -> None:
    """Appends each sequence's new latents, the first part of each under an RMS norm.

    kv: [N, rank + shared]. weight: [rank]. pages: [P, page, rank + shared], changed in place.
    """
    rank = weight.shape[0]
    _append(torch.cat([rms_norm(kv[:, :rank], weight, eps), kv[:, rank:]], dim=-1), pages, sequences)


def write_keys(
    keys: Tensor, weight: Tensor, bias: Tensor, eps: float, pages: Tensor, sequences: Sequences
) -> None:
    """Appends each sequence's new indexer keys under a layer norm. keys: [N, d]; pages: [P, page, d]."""
    _append(layer_norm(keys, weight, bias, eps), pages, sequences)


def _append(rows: Tensor, pages: Tensor, sequences: Sequences) -> None:
    size = pages.shape[1]
    for number, (first, last, length, _) in enumerate(sequences.rows()):
        at = torch.arange(length - (last - first), length, device=pages.device)
        pages[sequences.table[number, at // size].long(), at % size] = rows[first:last].to(pages.dtype)
