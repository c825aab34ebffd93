"""A small patch encoder of each kind on random weights, and pictures of noise."""

from __future__ import annotations

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from engine.config import K3, K3_VISION, K25_VISION, ModelConfig, Vision  # noqa: E402
from engine.weights.random import RandomSource  # noqa: E402

HIDDEN = 64
TOWERS: dict[str, Vision] = {
    "k2.5": replace(K25_VISION, hidden=48, layers=4, heads=3, inter=80, width=48, grid=16),
    "k3": replace(K3_VISION, hidden=48, layers=3, heads=2, inter=80, width=64, grid=16),
}
SIZES = {
    "one token": [(1, 1)], "the grid's own size": [(8, 8)], "wide": [(2, 40)], "tall": [(31, 1)],
    "several": [(3, 5), (1, 1), (9, 2), (8, 8), (5, 3)],
}  # fmt: skip
"""Rows and columns of tokens of each picture."""


def source_of(name: str) -> RandomSource:
    config: ModelConfig = replace(K3, hidden=HIDDEN, vision=TOWERS[name])
    return RandomSource(config)


def canvases_of(sizes: list[tuple[int, int]]) -> list[torch.Tensor]:
    """[28·rows, 28·columns, 3] each; the same for the same sizes."""
    drawn = torch.Generator().manual_seed(sum(rows * 41 + columns for rows, columns in sizes))
    return [
        torch.randint(0, 256, (28 * rows, 28 * columns, 3), dtype=torch.uint8, generator=drawn)
        for rows, columns in sizes
    ]


@pytest.fixture(scope="session")
def towers() -> dict[str, Vision]:
    return TOWERS


@pytest.fixture(scope="session")
def sizes() -> dict[str, list[tuple[int, int]]]:
    return SIZES


@pytest.fixture(scope="session")
def source():
    return source_of


@pytest.fixture(scope="session")
def canvases():
    return canvases_of
