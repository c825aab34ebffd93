"""In which files of a checkpoint we write which tensors, in which order: one file a layer.

A layer's experts of one part lie one after the other, so that they are used where they are mapped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from engine.weights.names import EXPERT_PARTS
from engine.weights.writer import Piece

EXPERT = re.compile(
    r"model\.layers\.(?P<layer>\d+)\.block_sparse_moe\.experts\.(?P<expert>\d+)\.(?P<part>w[123])\.weight"
    r"(?P<suffix>_packed|_scale|)"
)
_LAYER = re.compile(r"model\.layers\.(\d+)\.")


def arrange(pieces: Iterable[tuple[str, Piece]]) -> dict[str, list[Piece]]:
    """pieces: (public name, what is written). Gives file name → its pieces; the first file holds what's in no layer."""
    groups: dict[int, list[tuple[str, Piece]]] = {}
    for name, piece in pieces:
        layer = _LAYER.match(name)
        groups.setdefault(int(layer[1]) if layer else -1, []).append((name, piece))
    files: dict[str, list[Piece]] = {}
    for number, group in enumerate(sorted(groups), 1):
        ordered = sorted(groups[group], key=lambda one: _place(*one))
        files[f"model-{number:05d}-of-{len(groups):05d}.safetensors"] = [piece for _, piece in ordered]
    return files


def index(files: dict[str, list[Piece]]) -> dict[str, Any]:
    """What model.safetensors.index.json holds."""
    return {
        "metadata": {"total_size": sum(piece.bytes for pieces in files.values() for piece in pieces)},
        "weight_map": {piece.name: file for file, pieces in files.items() for piece in pieces},
    }


def _place(name: str, piece: Piece) -> tuple[int, int, str, int, str]:
    """Experts first, by part, packed before scales; then the others, those of the widest type first, so that each
    starts at a multiple of its width."""
    found = EXPERT.fullmatch(name)
    if found is None:
        return 1, -piece.dtype.itemsize, "", 0, name
    return 0, EXPERT_PARTS.index(found["part"]), found["suffix"], int(found["expert"]), name
