"""Writes a model as a checkpoint folder: for tests, benchmarks and what is trained here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor

from engine.config import ModelConfig
from engine.weights import arrange, names
from engine.weights.build import Source
from engine.weights.config_json import PICTURES, to_json
from engine.weights.files import INDEX
from engine.weights.pictures_json import pictures_to_json
from engine.weights.quantize import DESCRIPTION
from engine.weights.writer import Piece, write_json, write_shard
from kernels.reference.mxfp4 import BLOCK


def save(config: ModelConfig, source: Source, folder: Path) -> None:
    """Writes config.json, the index and a safetensors file a layer into `folder`, which is made if need be. What
    `source` gives packed stays packed. Memory: a layer's experts of one part."""
    folder.mkdir(parents=True, exist_ok=True)
    files = arrange.arrange(_pieces(config, source))
    for name, pieces in files.items():
        write_shard(folder / name, pieces)
    write_json(folder / INDEX, arrange.index(files))
    if config.vision is not None:
        write_json(folder / PICTURES, pictures_to_json(config.vision))
    whole = to_json(config)
    if any(piece.name.endswith("_packed") for pieces in files.values() for piece in pieces):
        whole["quantization_config"] = DESCRIPTION
    write_json(folder / "config.json", whole)


def _pieces(config: ModelConfig, source: Source) -> Iterator[tuple[str, Piece]]:
    for name, _ in names.trunk(config):
        tensor = source.tensor(name)
        yield name, Piece(name, tensor.dtype, tuple(tensor.shape), lambda name=name: [source.tensor(name)])
    last = _Last(source)
    for layer in names.moe_layers(config):
        kinds = [tensor.dtype for tensor in last.stacked(config.dense_layers, names.EXPERT_PARTS[0])]
        for expert in range(config.experts):
            for part in names.EXPERT_PARTS:
                yield from _expert(config, last, layer, expert, part, kinds)


def _expert(
    config: ModelConfig, last: _Last, layer: int, expert: int, part: str, kinds: list[torch.dtype]
) -> Iterator[tuple[str, Piece]]:
    out, width = (config.expert_inter, config.expert_width)
    if part == "w2":
        out, width = width, out
    parts = (("_packed", width // 2), ("_scale", width // BLOCK)) if len(kinds) == 2 else (("", width),)
    for which, (suffix, columns) in enumerate(parts):
        name = names.expert_name(layer, expert, part) + suffix
        yield (
            name,
            Piece(name, kinds[which], (out, columns), lambda w=which: [last.stacked(layer, part)[w][expert]]),
        )


class _Last:
    """One part's experts at a time: the file takes them one after the other, so each is drawn once."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._of: tuple[int, str] | None = None
        self._tensors: tuple[Tensor, ...] = ()

    def stacked(self, layer: int, part: str) -> tuple[Tensor, ...]:
        if self._of != (layer, part):
            self._tensors = ()
            self._tensors, self._of = self._source.stacked(layer, part), (layer, part)
        return self._tensors
