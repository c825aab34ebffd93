"""A whole Kimi-Linear against transformers' `KimiLinearForCausalLM`, on random weights."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from engine.config import KIMI_LINEAR_48B  # noqa: E402
from engine.weights import names  # noqa: E402
from engine.weights.random import RandomSource  # noqa: E402

CONFIG = replace(
    KIMI_LINEAR_48B, hidden=64, layers=5, vocab=199, full=(3, 4), kda_heads=4, kda_dim=16, gate_rank=16, heads=4,
    kv_lora=32, nope=16, shared_key=8, v_dim=16, dense_inter=96, experts=8, top_k=2, expert_inter=32,
)  # fmt: skip


TOKENS = torch.randint(0, CONFIG.vocab, (150,), generator=torch.Generator().manual_seed(0))
SOURCE = RandomSource(CONFIG, mxfp4=False)
EVERY = 7  # so many logits' rows are compared, and all of their largest


def test_logits_are_those_of_transformers(tmp_path: Path, logits, theirs) -> None:
    expected = theirs("kimi_linear", ("transformers",), lambda: _compute(tmp_path))
    ours = logits(CONFIG, SOURCE, TOKENS)
    print(f"largest difference {(ours[::EVERY] - expected['logits']).abs().max():.2e}")
    torch.testing.assert_close(ours[::EVERY], expected["logits"], rtol=0, atol=1e-4)
    assert torch.equal(ours.argmax(-1).int(), expected["argmax"])


def _compute(folder: Path) -> dict[str, torch.Tensor]:
    import transformers
    from safetensors.torch import save_file

    if not hasattr(transformers, "KimiLinearForCausalLM"):
        pytest.skip("this transformers has no Kimi-Linear")
    tensors = {name: SOURCE.tensor(name) for name, _ in names.trunk(CONFIG)}
    for layer in names.moe_layers(CONFIG):
        for expert in range(CONFIG.experts):
            for part in names.EXPERT_PARTS:
                tensors[names.expert_name(layer, expert, part)] = SOURCE.expert(layer, expert, part)
    save_file({n: t.contiguous() for n, t in tensors.items()}, folder / "model.safetensors", {"format": "pt"})
    transformers.KimiLinearConfig(
        vocab_size=199, hidden_size=64, intermediate_size=96, moe_intermediate_size=32, num_hidden_layers=5,
        num_attention_heads=4, num_key_value_heads=4, kv_lora_rank=32, qk_nope_head_dim=16, qk_rope_head_dim=8,
        v_head_dim=16, num_local_experts=8, num_experts_per_tok=2, pad_token_id=0, bos_token_id=1, eos_token_id=2,
        linear_attn_config={"full_attn_layers": [4, 5], "kda_layers": [1, 2, 3], "head_dim": 16, "num_heads": 4,
                            "short_conv_kernel_size": 4},
    ).save_pretrained(folder)  # fmt: skip
    model = transformers.KimiLinearForCausalLM.from_pretrained(
        folder, attn_implementation="eager", dtype=torch.float32
    )
    with torch.no_grad():
        made = model(TOKENS[None]).logits[0]
    return {"logits": made[::EVERY], "argmax": made.argmax(-1).int()}
