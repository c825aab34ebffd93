"""Of a checkpoint's plain weights, on held-out documents of the corpus: losses with experts as they are and as MXFP4,
and what the indexers keep of attention."""

from __future__ import annotations

from pathlib import Path
from typing import Any

CONTEXT, BATCHES = 2048, 12


def measured(masters: Path, shards: Path) -> dict[str, Any]:
    """Losses in nats a token: `plain`, `mxfp4`. recall: by `quarter` of the tokens seen and the model's own `top`, the
    mass that `indexer`, `recent` and `random` keep. Errors: CheckpointError."""
    from engine.train import checkpoints
    from engine.train.data import Data
    from engine.train.pack import rows
    from engine.train.settings import Settings
    from engine.train.trainer import Trainer
    from engine.weights.checkpoint import Checkpoint

    opened = Checkpoint.open(masters)
    packer = Data({"lm": 1.0}, str(shards), CONTEXT, 2 * CONTEXT).packer("held", "held/measured")
    batches, number = [], 0
    for _ in range(BATCHES):
        batch = packer.batch(number)
        batches.append(rows(batch))
        number = batch.following
    found: dict[str, Any] = {}
    for name, first in (("plain", 1), ("mxfp4", 0)):
        trainer = Trainer(opened.config, Settings(sparse_from=0, quantise_from=first))
        checkpoints.load(trainer.parameters, opened)
        told, recall = trainer.evaluate(batches)
        found |= {name: told.loss, "learnt": told.learnt, "recall": recall.means()}
    return found


def table(found: dict[str, Any]) -> str:
    lines = [
        f"held-out documents, {found['learnt']} tokens: {found['plain']:.4f} nats a token with plain experts,"
        f" {found['mxfp4']:.4f} as MXFP4"
    ]
    for what, by in found["recall"].items():
        kept = ", ".join(f"{name} {mass:.3f}" for name, mass in by.items())
        lines.append(f"attention kept with {what}: {kept}")
    return "\n".join(lines)
