"""A whole tiny K3 against llama.cpp: a GGUF that we write, experts widened to F32, prefill and decode."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from engine.config import K3, K3_1_PRO, Indexer  # noqa: E402
from engine.weights.random import RandomSource  # noqa: E402

SMALL = {
    "hidden": 64, "layers": 9, "vocab": 199, "full": (3, 7, 8), "kda_heads": 4, "kda_dim": 32, "heads": 4,
    "q_lora": 48, "kv_lora": 32, "nope": 32, "shared_key": 16, "v_dim": 32, "dense_inter": 96, "experts": 8,
    "top_k": 2, "expert_inter": 64, "latent": 32, "attn_res_block": 4, "context": 4096, "vision": None,
}  # fmt: skip
TOKENS = 200
CONFIGS = {
    "k3": replace(K3, **SMALL),
    # An indexer that takes all of so short a text: K3.1 is K3 up to its top-k tokens.
    "k3.1": replace(K3_1_PRO, **SMALL, indexer=Indexer(4, 16, TOKENS)),
}


EVERY = 10  # so many logits' rows are compared, and all of their largest


@pytest.mark.parametrize("name", CONFIGS)
def test_logits_are_those_of_llama_cpp(tmp_path: Path, logits, theirs, name: str) -> None:
    config = CONFIGS[name]
    source = RandomSource(config)
    tokens = torch.randint(0, config.vocab, (TOKENS,), generator=torch.Generator().manual_seed(0))
    expected = theirs(
        f"kimi_{name}", ("llama_cpp_python", "gguf"), lambda: _compute(config, source, tokens, tmp_path)
    )
    ours = logits(config, source, tokens)
    for step in ("prefill", "decode"):
        rows, largest = expected[step], expected[f"{step}_argmax"]
        print(f"{name}, {step}: largest difference {(ours[::EVERY] - rows).abs().max():.2e}")
        torch.testing.assert_close(ours[::EVERY], rows, rtol=0, atol=1e-3)
        assert torch.equal(ours.argmax(-1).int(), largest)


def _compute(config, source, tokens: torch.Tensor, folder: Path) -> dict[str, torch.Tensor]:
    import llama_cpp

    from engine.weights.gguf import export

    export(config, source, folder / "model.gguf", widen_experts=True)
    answers = {}
    for name, step in (("prefill", TOKENS), ("decode", 1)):
        llama = llama_cpp.Llama(
            str(folder / "model.gguf"), n_ctx=512, n_batch=512, n_threads=1, logits_all=True, verbose=False,
            type_k=llama_cpp.GGML_TYPE_F32, type_v=llama_cpp.GGML_TYPE_F32,
        )  # fmt: skip
        for first in range(0, TOKENS, step):
            llama.eval(tokens[first : first + step].tolist())
        made = torch.tensor(llama.scores[:TOKENS])
        answers |= {name: made[::EVERY], f"{name}_argmax": made.argmax(-1).int()}
    return answers
