"""Near-duplicates: documents that share most of their lines are learnt from once (MinHash, Broder 1997).

A document is the set of its pairs of neighbouring lines. Sets are compared where their minima under some hash functions
agree in one of the bands; what decides is the true share of common pairs.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator

import numpy as np

from engine.train.corpus.files import Document

BANDS, ROWS = 40, 3
"""Of the pairs with a share of 0.4 93 % are compared, of those with a half 99.5 %."""
SHARE = 0.4
"""Twins (with and without async, two versions of a format) share 0.4 to 0.7, unrelated files below 0.3."""
_PRIME = (1 << 31) - 1
_FEWEST = 3
"""Pairs; smaller sets are alike by chance, and only equal ones are dropped."""


def distinct(documents: Iterable[Document]) -> Iterator[Document]:
    """Those that are no near-duplicates of an earlier one, in their order."""
    draw = np.random.default_rng(0)
    factors = draw.integers(1, _PRIME, BANDS * ROWS, dtype=np.uint64)
    shifts = draw.integers(0, _PRIME, BANDS * ROWS, dtype=np.uint64)
    kept: list[np.ndarray] = []
    buckets: dict[tuple[int, bytes], list[int]] = defaultdict(list)
    for document in documents:
        pairs = line_pairs(document.text)
        least = _minima(pairs, factors, shifts)
        keys = [(band, least[band * ROWS : (band + 1) * ROWS].tobytes()) for band in range(BANDS)]
        near = {number for key in keys for number in buckets[key]}
        if any(_alike(pairs, kept[number]) for number in near):
            continue
        for key in keys:
            buckets[key].append(len(kept))
        kept.append(pairs)
        yield document


def line_pairs(text: str) -> np.ndarray:
    """Hashes of a text's neighbouring lines, blanks aside: sorted, each once; below 2^31 − 1."""
    lines = [line for line in (" ".join(line.split()) for line in text.splitlines()) if line]
    pairs = {
        zlib.crc32(f"{one}\n{two}".encode()) % _PRIME
        for one, two in zip(lines, lines[1:] or [""], strict=False)
    }
    return np.array(sorted(pairs), dtype=np.uint64)


def _minima(pairs: np.ndarray, factors: np.ndarray, shifts: np.ndarray) -> np.ndarray:
    """[BANDS · ROWS]; products of two numbers below 2^31 stay below 2^62."""
    if not len(pairs):
        return np.zeros(len(factors), dtype=np.uint64)
    return ((pairs[:, None] * factors + shifts) % _PRIME).min(axis=0)


def _alike(one: np.ndarray, two: np.ndarray) -> bool:
    common = len(np.intersect1d(one, two, assume_unique=True))
    whole = len(one) + len(two) - common
    least = SHARE if min(len(one), len(two)) >= _FEWEST else 1.0
    return whole == 0 or common >= least * whole
