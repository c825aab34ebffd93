"""Reading a paged cache: a sequence's tokens lie in pages of a pool, in any order."""

from __future__ import annotations

from torch import Tensor


def gathered(pages: Tensor, row: Tensor, length: int) -> Tensor:
    """The first `length` entries of one sequence. pages: [P, page, W]; row: [M] page numbers. Gives [length, W]."""
    size = pages.shape[1]
    count = -(-length // size)
    return pages[row[:count].long()].reshape(count * size, pages.shape[-1])[:length]


def write_pages(pages: Tensor, table: Tensor, lengths: list[int], starts: list[int], rows: Tensor) -> None:
    """Puts each sequence's new entries at its end, in place.

    pages: [P, page, W]. table: [S, M] int. lengths: entries of each sequence with the new ones. rows: [N, W],
    sequence s being rows starts[s] … starts[s+1].
    """
    import torch

    size = pages.shape[1]
    for sequence, length in enumerate(lengths):
        first, last = starts[sequence], starts[sequence + 1]
        at = torch.arange(length - (last - first), length, device=pages.device)
        pages[table[sequence, at // size].long(), at % size] = rows[first:last].to(pages.dtype)
