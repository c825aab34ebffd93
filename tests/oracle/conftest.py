"""Other people's answers, computed where their code is installed, else as they were frozen; our logits beside them."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from safetensors import safe_open  # noqa: E402
from safetensors.torch import save_file  # noqa: E402

from engine.batch import Batch  # noqa: E402
from engine.cache.pools import Pools  # noqa: E402
from engine.config import ModelConfig  # noqa: E402
from engine.model import Model  # noqa: E402
from engine.weights.build import Source, build  # noqa: E402
from kernels.dispatch import REFERENCE  # noqa: E402
from kernels.layout import Sequences  # noqa: E402

Logits = Callable[[ModelConfig, Source, "torch.Tensor"], "torch.Tensor"]
Answers = dict[str, "torch.Tensor"]
Theirs = Callable[[str, tuple[str, ...], Callable[[], Answers]], Answers]
FROZEN = Path(__file__).parent / "frozen"


@pytest.fixture(scope="session")
def logits() -> Logits:
    """(config, weights, tokens [N]) → logits [N, vocab] of one text, prefilled at once."""

    def run(config: ModelConfig, source: Source, tokens: torch.Tensor) -> torch.Tensor:
        count = len(tokens)
        pages = -(-count // 64)
        sequences = Sequences.of([count], [count], [0], torch.arange(pages, dtype=torch.int32)[None])
        batch = Batch(tokens, sequences, torch.arange(count), count)
        model = Model(config, build(config, source), REFERENCE)
        return model.forward(batch, Pools.allocate(config, pages, 1, page=64))

    return run


@pytest.fixture(scope="session")
def theirs() -> Theirs:
    """(name, distributions, compute) → what their code says, by `compute` where all the distributions are installed.

    Else it is read from `frozen/name.safetensors`, which DESKAGENT_FREEZE=1 writes. Where both are there they have to
    agree, so a frozen answer never goes stale unseen.
    """

    def ask(name: str, distributions: tuple[str, ...], compute: Callable[[], Answers]) -> Answers:
        file = FROZEN / f"{name}.safetensors"
        versions = {}
        for distribution in distributions:
            try:
                versions[distribution] = metadata.version(distribution)
            except metadata.PackageNotFoundError:
                if not file.is_file():
                    pytest.skip(f"{distribution} isn't installed, and {name} isn't frozen")
                print(f"{name}: frozen answers of {_frozen(file)[1]}")
                return _frozen(file)[0]
        answers = {key: tensor.contiguous() for key, tensor in compute().items()}
        if os.environ.get("DESKAGENT_FREEZE"):
            FROZEN.mkdir(exist_ok=True)
            save_file(answers, file, {key: str(value) for key, value in versions.items()})
        for key, kept in _frozen(file)[0].items() if file.is_file() else ():
            torch.testing.assert_close(answers[key], kept, rtol=1e-5, atol=1e-5, msg=lambda m: f"{name}: {m}")
        return answers

    return ask


def _frozen(file: Path) -> tuple[Answers, dict[str, str]]:
    with safe_open(file, "pt") as opened:
        return {key: opened.get_tensor(key) for key in opened.keys()}, opened.metadata()  # noqa: SIM118
