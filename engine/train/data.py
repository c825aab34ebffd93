"""The [data] table of a run's configuration, and the packer that it describes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from engine.errors import ConfigError
from engine.tokenizer import load
from engine.train import shards
from engine.train.library import Library
from engine.train.make.makers import Stock, makers
from engine.train.packer import Packer


@dataclass(frozen=True, slots=True)
class Data:
    """weights: kind → share of examples. folder: of shards and tokenizer.json. context: tokens of a sequence at most.
    tokens: of a batch."""

    weights: Mapping[str, float]
    folder: str = "assets/train"
    context: int = 1024
    tokens: int = 4096

    def __post_init__(self) -> None:
        """Raises ConfigError for what describes no data."""
        if not isinstance(self.weights, Mapping) or not any(
            isinstance(weight, int | float) and weight > 0 for weight in self.weights.values()
        ):
            raise ConfigError("data.weights names no kind of example with a weight above 0")
        for key in ("context", "tokens"):
            if getattr(self, key) < 64:
                raise ConfigError(f"data.{key} is {getattr(self, key)}, it has to be at least 64")

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Data:
        """table: its `rows`, the module that reads it, says nothing more. Errors: ConfigError, naming the key."""
        told = {key: value for key, value in table.items() if key != "rows"}
        unknown = sorted(set(told) - {field.name for field in fields(cls)})
        if unknown or "weights" not in told:
            raise ConfigError(f"data.{unknown[0]} isn't known" if unknown else "data.weights is missing")
        return cls(**told)

    def packer(self, half: str, seed: str, kinds: Mapping[str, float] | None = None) -> Packer:
        """kinds: weights instead of the run's own."""
        weights = self.weights if kinds is None else kinds
        library = Library(shards.read(Path(self.folder), half), self.context)
        tokenizer = load(Path(self.folder))
        return Packer(
            library,
            tokenizer,
            makers(weights, Stock(library, Path(self.folder), half)),
            weights,
            self.context,
            self.tokens,
            seed,
        )
