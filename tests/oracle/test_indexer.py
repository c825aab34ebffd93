"""Which tokens a token attends to, against two indexers of transformers: DeepSeek-V3.2's with its rotation made the
identity (our positions aren't rotated), and GLM-5's with pools of one token."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")

from kernels.layout import Sequences  # noqa: E402
from kernels.reference.indexer import index_topk  # noqa: E402
from kernels.reference.norm import layer_norm  # noqa: E402

TOKENS, HIDDEN, LORA, HEADS, WIDTH, TOP, PAGE = 96, 48, 24, 32, 16, 20, 16


def _drawn(*shape: int, seed: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


X, LATENT = _drawn(TOKENS, HIDDEN, seed=0), _drawn(TOKENS, LORA, seed=1)
WEIGHTS = {
    "wq_b.weight": _drawn(HEADS * WIDTH, LORA, seed=2) * LORA**-0.5,
    "wk.weight": _drawn(WIDTH, HIDDEN, seed=3) * HIDDEN**-0.5,
    "k_norm.weight": 1 + _drawn(WIDTH, seed=4) * 0.1,
    "k_norm.bias": _drawn(WIDTH, seed=5) * 0.1,
    "weights_proj.weight": _drawn(HEADS, HIDDEN, seed=6) * HIDDEN**-0.5,
}
FIELDS = {
    "hidden_size": HIDDEN, "index_n_heads": HEADS, "index_head_dim": WIDTH, "qk_rope_head_dim": 8, "index_topk": TOP,
    "q_lora_rank": LORA, "index_kpool": 1, "index_kpool_always_select_tail": False,
}  # fmt: skip


def _deepseek() -> dict[str, torch.Tensor]:
    from transformers.models.deepseek_v32.modeling_deepseek_v32 import DeepseekV32Indexer

    indexer = DeepseekV32Indexer(SimpleNamespace(**FIELDS), 0)
    indexer.load_state_dict(WEIGHTS)
    still = torch.ones(1, TOKENS, 8), torch.zeros(1, TOKENS, 8)
    causal = torch.ones(1, TOKENS, TOKENS, dtype=torch.bool).tril()
    return {"ids": indexer(X[None], LATENT[None], still, causal, torch.arange(TOKENS)[None])[0]}


def _glm() -> dict[str, torch.Tensor]:
    from transformers.models.glm5_next.modeling_glm5_next import Glm5NextTextIndexer

    indexer = Glm5NextTextIndexer(SimpleNamespace(**FIELDS), 0)
    missing = indexer.load_state_dict(WEIGHTS, strict=False)
    assert set(missing.missing_keys) == {"index_kpool_compress_ape", "index_kpool_compress_gate"}
    return {"ids": indexer(X[None], LATENT[None], torch.ones(1, TOKENS, dtype=torch.bool), None)[0]}


@pytest.mark.parametrize(("name", "compute"), [("deepseek_v32", _deepseek), ("glm5_next", _glm)])
def test_the_same_tokens_are_taken(theirs, name: str, compute) -> None:
    expected = theirs(f"indexer_{name}", ("transformers",), compute)["ids"]
    keys = layer_norm(X @ WEIGHTS["wk.weight"].T, WEIGHTS["k_norm.weight"], WEIGHTS["k_norm.bias"], 1e-6)
    pages = keys.view(-1, PAGE, WIDTH)
    sequences = Sequences.of([TOKENS], [TOKENS], [0], torch.arange(len(pages))[None])
    q, weights = LATENT @ WEIGHTS["wq_b.weight"].T, X @ WEIGHTS["weights_proj.weight"].T
    ours = index_topk(q, weights, pages, sequences, TOP)
    compared = 0
    for row in range(TOKENS):
        # Where fewer than k tokens stand before, theirs fills up with masked ones.
        wanted = {int(i) for i in expected[row] if 0 <= i <= row}
        assert {int(i) for i in ours[row] if i >= 0} == wanted, row
        compared += len(wanted)
    print(f"{name}: {compared} chosen tokens equal")
    assert compared == sum(min(row + 1, TOP) for row in range(TOKENS))
