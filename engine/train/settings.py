"""A run's settings, from a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from engine.config import PRESETS, Indexer, ModelConfig
from engine.errors import ConfigError
from engine.train.rows import Rows, Source

ROWS = "engine.train.pack"


@dataclass(frozen=True, slots=True)
class Opener:
    """source: endless rows of a half of the data, called with the [data] table, `train` and a seed. held: the same
    held-out batches each time, called with the table and their number."""

    source: Callable[[dict[str, Any], str, int], Source]
    held: Callable[[dict[str, Any], int], Iterable[Rows]]


@dataclass(frozen=True, slots=True)
class Settings:
    """steps: of the optimiser, all runs together. accumulate: batches of rows a step. lr: the peak, of every parameter.
    warmup, decay: the first steps, in which it grows from 0, and the last ones, in which it falls to 0, both in a
    straight line. weight_decay: of matrices. clip: the largest norm of all gradients. optimiser: `muon` for matrices
    and AdamW for the rest, or `adamw`. dtype: of products. compile: small operations made
    into one, see `fused`. quantise_from, sparse_from: the steps from which routed
    experts compute as MXFP4 and full attention is the indexer's choice. index_rows: queries of a batch that
    indexers learn from. choice: what a question's choice among answers weighs, in learnt tokens; choice_loglik,
    choice_tokens: what an answer's log-likelihood and its tokens count for in it. balance: how far a step moves a
    selection bias. save_every, evaluate_every: in steps. keep: how many steps lie between checkpoints that stay; of
    the others only the last two do. held: batches of an evaluation.
    """

    seed: int = 0
    steps: int = 10_000
    accumulate: int = 1
    lr: float = 2e-3
    warmup: int = 100
    decay: int = 1000
    weight_decay: float = 0.1
    clip: float = 1.0
    optimiser: str = "muon"
    dtype: str = "bfloat16"
    compile: bool = False
    quantise_from: int = 0
    sparse_from: int = 1000
    index_rows: int = 256
    choice: float = 8.0
    choice_loglik: float = 1.0
    choice_tokens: float = 0.0
    balance: float = 1e-3
    save_every: int = 200
    evaluate_every: int = 500
    keep: int = 2000
    held: int = 8

    def __post_init__(self) -> None:
        """Raises ConfigError for what makes no run."""
        for key in ("steps", "accumulate", "save_every", "evaluate_every", "keep", "held"):
            if getattr(self, key) < 1:
                raise ConfigError(f"train.{key} is {getattr(self, key)}, it has to be at least 1")
        for key, known in {"optimiser": ("muon", "adamw"), "dtype": ("bfloat16", "float32")}.items():
            if getattr(self, key) not in known:
                raise ConfigError(f"train.{key} is {getattr(self, key)!r}; known are {', '.join(known)}")

    def rate(self, step: int) -> float:
        """The learning rate of a step, counted from 0."""
        grown = min(1.0, (step + 1) / max(1, self.warmup))
        left = min(1.0, (self.steps - step) / max(1, self.decay))
        return self.lr * grown * max(0.0, left)


@dataclass(frozen=True, slots=True)
class Run:
    """What a configuration file says. data: what the source of rows is told, as it stands there; its `rows` names the
    module that makes them."""

    model: ModelConfig
    train: Settings
    data: dict[str, Any]

    def rows(self) -> Opener:
        """Errors: ConfigError for a name that leads to no module with both functions."""
        name = str(self.data.get("rows", ROWS))
        try:
            module = import_module(name)
            return Opener(module.source, module.held)
        except (ImportError, AttributeError, ValueError) as error:
            raise ConfigError(f"data.rows is {name!r}, which can't be used: {error}") from error


def read(path: Path) -> Run:
    """Errors: ConfigError, naming the file and the key."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
        unknown = set(found) - {"model", "train", "data"}
        if unknown:
            raise ConfigError(f"no table [{min(unknown)}] is known; there are [model], [train], [data]")
        return Run(_model(found.get("model", {})), _settings(found.get("train", {})), found.get("data", {}))
    except (OSError, tomllib.TOMLDecodeError, ConfigError) as error:
        raise ConfigError(f"{path}: {error}") from error


def _settings(table: dict[str, Any]) -> Settings:
    kinds = {field.name: type(field.default) for field in fields(Settings)}
    made: dict[str, Any] = {}
    for key, value in table.items():
        kind = kinds.get(key)
        if kind is None:
            raise ConfigError(f"train.{key} is not known; there are {', '.join(kinds)}")
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind:
            raise ConfigError(f"train.{key} is {value!r}, it has to be of type {kind.__name__}")
        made[key] = value
    return Settings(**made)


def _model(table: dict[str, Any]) -> ModelConfig:
    """A preset, and what differs from it."""
    changes = dict(table)
    name = changes.pop("preset", "mini")
    if name not in PRESETS:
        raise ConfigError(f"model.preset is {name!r}; known are {', '.join(PRESETS)}")
    known = asdict(PRESETS[name])
    for key in changes:
        if key not in known:
            raise ConfigError(f"model.{key} is not known")
    if "indexer" in changes:
        changes["indexer"] = Indexer(**changes["indexer"])
    for key in ("full", "eos"):
        if key in changes:
            changes[key] = tuple(changes[key])
    return replace(PRESETS[name], vision=None, **changes)
