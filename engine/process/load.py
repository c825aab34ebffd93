"""A model ready to run from a checkpoint's folder."""

from __future__ import annotations

from pathlib import Path

from engine import tokenizer
from engine.generate.text import Vocabulary
from engine.model import Model
from engine.weights.build import build
from engine.weights.checkpoint import Checkpoint
from kernels.dispatch import select

_TOKENIZERS = ("tokenizer.json", "*.tiktoken", "tiktoken.model")


def load(folder: Path, kernels: str | None = None) -> tuple[Model, Vocabulary | None]:
    """The model, and its tokenizer if the folder has one. Errors: CheckpointError, ConfigError, RequestError."""
    checkpoint = Checkpoint.open(folder)
    model = Model(checkpoint.config, build(checkpoint.config, checkpoint), select("cpu", kernels))
    has = any(next(folder.glob(name), None) for name in _TOKENIZERS)
    return model, tokenizer.load(folder) if has else None
