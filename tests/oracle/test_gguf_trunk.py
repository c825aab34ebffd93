"""A trunk that is exported as bf16, read by gguf's own reader: matrices to the bit, small parts still fp32."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
gguf = pytest.importorskip("gguf")

from engine.config import K3  # noqa: E402
from engine.weights.gguf import export  # noqa: E402
from engine.weights.random import RandomSource  # noqa: E402

CONFIG = replace(
    K3, hidden=64, layers=2, full=(1,), vocab=99, kda_heads=2, kda_dim=32, heads=2, q_lora=32, kv_lora=32, nope=32,
    shared_key=16, v_dim=32, dense_inter=96, experts=4, top_k=2, expert_inter=64, latent=32, attn_res_block=2,
    context=512, vision=None, bos=0, eos=(1,),
)  # fmt: skip


def test_matrices_are_bf16_and_the_rest_fp32(tmp_path: Path) -> None:
    source = RandomSource(CONFIG, dtype=torch.bfloat16)
    export(CONFIG, source, tmp_path / "model.gguf", trunk=torch.bfloat16)
    tensors = {tensor.name: tensor for tensor in gguf.GGUFReader(tmp_path / "model.gguf").tensors}
    kinds = {name: tensor.tensor_type.name for name, tensor in tensors.items()}
    head = torch.from_numpy(tensors["output.weight"].data.copy()).view(torch.bfloat16)
    assert torch.equal(head, source.tensor("lm_head.weight"))
    assert kinds["blk.0.ssm_f_a.weight"] == kinds["blk.1.attn_k_b.weight"] == "BF16"
    for name in (
        "blk.0.attn_norm.weight",
        "blk.0.ssm_conv1d_q.weight",
        "blk.1.ffn_gate_inp.weight",
        "blk.0.ssm_a",
    ):
        assert kinds[name] == "F32"
    assert kinds["blk.1.ffn_up_exps.weight"] == "MXFP4"
