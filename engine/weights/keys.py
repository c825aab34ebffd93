"""Values of a config's objects, checked as they are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.errors import ConfigError

_OTHER_NAMES = {
    "num_experts": "num_local_experts", "num_experts_per_token": "num_experts_per_tok",
    "num_shared_experts": "n_shared_experts", "max_position_embeddings": "model_max_length",
    "moe_renormalize": "norm_topk_prob",
}  # fmt: skip
_LARGEST_WHOLE = 1 << 20
_LARGEST_REAL = 1e9
LARGEST_OF = {"num_hidden_layers": 1 << 12, "vocab_size": 1 << 24, "max_position_embeddings": 1 << 32}
"""No model is near these; a number beyond them is damage or malice."""


class Keys:
    """An object of the config, whose values are checked as they are read."""

    def __init__(self, raw: Any, where: str = "") -> None:
        if not isinstance(raw, Mapping):
            raise ConfigError(f"config: {where.rstrip('.') or 'text_config'} is no object")
        self.raw, self.where = raw, where

    def get(self, key: str, default: Any = ...) -> Any:
        for name in (key, _OTHER_NAMES.get(key, key)):
            if self.raw.get(name) is not None:
                return self.raw[name]
        if default is ...:
            raise ConfigError(f"config: {self.where}{key} is missing")
        return default

    def object(self, key: str) -> Any:
        return self.get(key)

    def whole(self, key: str, default: Any = ...) -> int:
        value = self.get(key, default)
        largest = LARGEST_OF.get(key, _LARGEST_WHOLE)
        if type(value) is not int or not 0 <= value <= largest:
            raise ConfigError(
                f"config: {self.where}{key} is {short(value)}, it has to be a whole number up to {largest}"
            )
        return value

    def wholes(self, key: str) -> list[int]:
        value = self.get(key)
        most = LARGEST_OF["num_hidden_layers"]
        if not isinstance(value, list) or len(value) > most or not all(type(n) is int for n in value):
            raise ConfigError(f"config: {self.where}{key} is no list of whole numbers")
        return value

    def real(self, key: str, default: float | None) -> float | None:
        value = self.get(key, default)
        if value is None:
            return None
        if type(value) not in (int, float) or not -_LARGEST_REAL < value < _LARGEST_REAL:
            raise ConfigError(f"config: {self.where}{key} is {short(value)}, it has to be a number")
        return float(value)

    def positive(self, key: str, default: float) -> float:
        value = self.real(key, default)
        if value is None or value <= 0:
            raise ConfigError(f"config: {self.where}{key} is {value}, it has to be above 0")
        return value


def short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else shown[:77] + "…"
