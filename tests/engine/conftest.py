"""Small models of every shape, on random weights."""

from __future__ import annotations

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
torch.set_num_threads(1)  # the suite runs on all cores already

from engine.batch import Batch  # noqa: E402
from engine.cache.pools import Pools  # noqa: E402
from engine.config import K3_1_PRO, K3_VISION, KIMI_LINEAR_48B, Indexer, ModelConfig  # noqa: E402
from engine.model import Model  # noqa: E402
from engine.weights.build import build  # noqa: E402
from engine.weights.random import RandomSource  # noqa: E402
from kernels.dispatch import REFERENCE  # noqa: E402
from kernels.layout import Sequences  # noqa: E402

SMALL = {
    "hidden": 64, "layers": 5, "vocab": 97, "full": (3, 4), "kda_heads": 2, "kda_dim": 16, "heads": 2, "kv_lora": 32,
    "nope": 16, "shared_key": 8, "v_dim": 16, "dense_inter": 96, "experts": 8, "top_k": 2, "expert_inter": 32,
    "vision": None, "bos": 95, "eos": (96,),
}  # fmt: skip
CONFIGS: dict[str, ModelConfig] = {
    "kimi-linear": replace(KIMI_LINEAR_48B, **SMALL, gate_rank=16),
    "k3": replace(K3_1_PRO, **SMALL, q_lora=32, latent=32, attn_res_block=3, indexer=None),
    "k3.1": replace(K3_1_PRO, **SMALL, q_lora=32, latent=32, attn_res_block=3, indexer=Indexer(4, 16, 24)),
}


class Runner:
    """A model with pools of its own, fed in pieces."""

    def __init__(self, config: ModelConfig, page: int = 16, slots: int = 4) -> None:
        self.config = config
        source = RandomSource(config, mxfp4=True)
        self.model = Model(config, build(config, source), REFERENCE)
        self.page, self.slots = page, slots

    def pools(self, pages: int = 64) -> Pools:
        return Pools.allocate(self.config, pages, self.slots, page=self.page)

    def run(self, pools: Pools, pieces: list[tuple[list[int], int, int, list[int]]]):
        """Logits [N, V] of all rows. pieces: (tokens, tokens before, slot, pages) of each sequence."""
        width = max(len(pages) for _, _, _, pages in pieces)
        table = torch.tensor(
            [pages + [0] * (width - len(pages)) for _, _, _, pages in pieces], dtype=torch.int32
        )
        new = [len(tokens) for tokens, _, _, _ in pieces]
        lengths = [before + len(tokens) for tokens, before, _, _ in pieces]
        sequences = Sequences.of(new, lengths, [slot for _, _, slot, _ in pieces], table)
        tokens = torch.tensor([token for piece in pieces for token in piece[0]])
        return self.model.forward(Batch(tokens, sequences, torch.arange(len(tokens)), max(lengths)), pools)


class Letters:
    """A vocabulary of 97: printable ASCII, two bytes that only together are a letter, an end marker."""

    def token_bytes(self, token: int) -> bytes:
        if token < 94:
            return bytes([32 + token])
        return (b"\xc3", b"\xa9", b"")[token - 94]

    def ids(self, text: str) -> list[int]:
        return [byte - 32 for byte in text.encode()]


@pytest.fixture(scope="session")
def letters() -> Letters:
    return Letters()


@pytest.fixture(scope="session")
def tiny() -> Model:
    """The smallest model with every kind of layer."""
    config = replace(CONFIGS["k3.1"], layers=3, full=(2,), context=512)
    return Model(config, build(config, RandomSource(config, mxfp4=True)), REFERENCE)


@pytest.fixture(scope="session")
def seeing(tiny) -> Model:
    """The smallest model with a patch encoder; token 90 is where pictures go."""
    vision = replace(
        K3_VISION, hidden=32, layers=2, heads=2, inter=48, width=48, grid=8, patches=1024, side=64
    )
    config = replace(tiny.config, vision=vision, placeholder=90)
    return Model(config, build(config, RandomSource(config, mxfp4=True)), REFERENCE)


@pytest.fixture
def engine(tiny, letters):
    """Makes engines on the tiny model: engine(pages=…, …)."""
    from engine.api import Caches, Engine

    def make(*, budget: int = 64, model: Model = tiny, **caches) -> Engine:
        sizes = {"pages": 64, "slots": 4, "page": 8, "ram": 0} | caches
        return Engine(model, Caches(**sizes), letters, budget=budget)

    return make


@pytest.fixture(scope="session")
def runners() -> dict[str, Runner]:
    return {name: Runner(config) for name, config in CONFIGS.items()}
