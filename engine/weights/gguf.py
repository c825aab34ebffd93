"""Writes a K3-shaped checkpoint as GGUF (`kimi-k3`), so that llama.cpp runs it.

GGUF keeps what llama.cpp's graph wants: the residual norm and projection as their product, −exp(A_log), kv_b split
into its key half (transposed) and its value half, the experts stacked. There is no indexer in that graph: a K3.1
checkpoint runs there with dense attention, which is the same up to top-k tokens. The patch encoder stays out: the file
is a model of text.
"""

# gguf is an extra that few have, imported where a file is written. Where it is missing, pyright takes
# engine/weights/gguf.py for it.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportCallIssue=false
# pyright: reportGeneralTypeIssues=false

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from engine.config import ModelConfig
from engine.errors import ConfigError
from engine.weights import names
from engine.weights.build import Source, residual_score
from engine.weights.gguf_vocab import add_vocabulary
from kernels.reference.mxfp4 import BLOCK, unpack

if TYPE_CHECKING:
    from gguf import GGUFWriter

ARCHITECTURE = "kimi-k3"
_SIGMOID_ROUTER = 2
_ATTENTION = {
    "q_a_proj.weight": "attn_q_a", "q_a_layernorm.weight": "attn_q_a_norm", "q_b_proj.weight": "attn_q_b",
    "q_proj.weight": "attn_q", "k_proj.weight": "attn_k", "v_proj.weight": "attn_v", "o_proj.weight": "attn_output",
    "kv_a_proj_with_mqa.weight": "attn_kv_a_mqa", "kv_a_layernorm.weight": "attn_kv_a_norm",
    "q_conv1d.weight": "ssm_conv1d_q", "k_conv1d.weight": "ssm_conv1d_k", "v_conv1d.weight": "ssm_conv1d_v",
    "f_a_proj.weight": "ssm_f_a", "f_b_proj.weight": "ssm_f_b", "b_proj.weight": "ssm_beta",
    "o_norm.weight": "ssm_norm",
}  # fmt: skip
_FFN = {
    "gate_proj.weight": "ffn_gate", "up_proj.weight": "ffn_up", "down_proj.weight": "ffn_down",
    "gate.weight": "ffn_gate_inp", "routed_expert_down_proj.weight": "ffn_routed_down",
    "routed_expert_up_proj.weight": "ffn_routed_up", "routed_expert_norm.weight": "ffn_routed_norm",
    "shared_experts.gate_proj.weight": "ffn_gate_shexp", "shared_experts.up_proj.weight": "ffn_up_shexp",
    "shared_experts.down_proj.weight": "ffn_down_shexp",
}  # fmt: skip
_FP32 = ("ssm_conv1d", "ffn_gate_inp")
_EXPERTS = {"w1": "ffn_gate_exps", "w3": "ffn_up_exps", "w2": "ffn_down_exps"}


def export(
    config: ModelConfig,
    source: Source,
    path: Path,
    *,
    widen_experts: bool = False,
    vocabulary: Path | None = None,
    trunk: torch.dtype = torch.float32,
) -> bool:
    """Writes `path`. Experts keep their MXFP4 unless `widen_experts` asks for fp32. trunk: dtype of the trunk's
    matrices, fp32 or bf16; norms, convolutions and the router stay fp32, as llama.cpp wants them. vocabulary: the
    folder of a tokenizer.json. Gives whether the file has a vocabulary; without one it takes token ids alone.

    Errors: ConfigError for a model that the format has no place for (Kimi-Linear's shapes).
    """
    from gguf import GGUFWriter

    if config.gate_bound is None or config.gate_rank is not None or config.activation != "situ":
        raise ConfigError("GGUF kimi-k3 holds K3-shaped models only: bounded gate, full-rank gate, SiTU")
    # Through a temporary file: else all tensors would be in memory until the end.
    writer = GGUFWriter(path, ARCHITECTURE, use_temp_file=True)
    _describe(config, writer)
    with_words = vocabulary is not None and add_vocabulary(writer, vocabulary, config)
    if not with_words:
        writer.add_tokenizer_model("no_vocab")
    for name, tensor in _trunk(config, source):
        _add_trunk(writer, name, tensor.contiguous(), trunk)
    for layer in names.moe_layers(config):
        for part, name in _EXPERTS.items():
            _add_experts(writer, f"blk.{layer}.{name}.weight", source.stacked(layer, part), widen_experts)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return with_words


def _describe(config: ModelConfig, writer: GGUFWriter) -> None:
    whole = {
        "block_count": config.layers, "context_length": config.context, "embedding_length": config.hidden,
        "feed_forward_length": config.dense_inter, "attention.head_count": config.heads, "vocab_size": config.vocab,
        "attention.key_length": config.latent_width, "attention.value_length": config.kv_lora,
        "attention.key_length_mla": config.nope + config.shared_key, "attention.value_length_mla": config.v_dim,
        "attention.kv_lora_rank": config.kv_lora, "rope.dimension_count": config.shared_key,
        "ssm.conv_kernel": config.conv, "kda.head_dim": config.kda_dim, "expert_count": config.experts,
        "expert_used_count": config.top_k, "expert_feed_forward_length": config.expert_inter,
        "expert_shared_count": config.shared_experts, "expert_gating_func": _SIGMOID_ROUTER,
        "leading_dense_block_count": config.dense_layers, "attn_res.block_size": config.attn_res_block,
    }  # fmt: skip
    if config.q_lora is not None:
        whole["attention.q_lora_rank"] = config.q_lora
    if config.latent is not None:
        whole["expert_latent_length"] = config.latent
    real = {
        "attention.layer_norm_rms_epsilon": config.eps, "kda.gate_lower_bound": config.gate_bound or 0.0,
        "expert_weights_scale": config.router_scale, "activation.situ_beta": config.situ_beta,
        "activation.situ_linear_beta": config.situ_linear_beta,
    }  # fmt: skip
    for key, number in whole.items():
        writer.add_uint32(f"{ARCHITECTURE}.{key}", number)
    for key, value in real.items():
        writer.add_float32(f"{ARCHITECTURE}.{key}", value)
    writer.add_bool(f"{ARCHITECTURE}.expert_weights_norm", config.renormalise)
    heads = [int(config.is_full(layer)) for layer in range(config.layers)]
    writer.add_array(f"{ARCHITECTURE}.attention.head_count_kv", heads)


def _trunk(config: ModelConfig, source: Source) -> Iterator[tuple[str, Tensor]]:
    get = source.tensor
    yield "token_embd.weight", get("model.embed_tokens.weight")
    yield "output_norm.weight", get("model.norm.weight")
    yield "output.weight", get("lm_head.weight")
    if config.attn_res_block:
        yield "output_res_score.weight", residual_score(get, names.OUTPUT_RESIDUAL)
    for layer in range(config.layers):
        base, to = f"model.layers.{layer}.", f"blk.{layer}."
        yield to + "attn_norm.weight", get(base + "input_layernorm.weight")
        yield to + "ffn_norm.weight", get(base + "post_attention_layernorm.weight")
        if config.attn_res_block:
            for residual, name in zip(names.RESIDUALS, ("attn_res_score", "ffn_res_score"), strict=True):
                yield f"{to}{name}.weight", residual_score(get, base + residual)
        for name, _ in names.attention(config, layer):
            yield from _attention(config, layer, name, get(f"{base}self_attn.{name}"), to)
        block = "mlp." if layer < config.dense_layers else "block_sparse_moe."
        for name, _ in names.feed_forward(config, layer):
            tensor = get(base + block + name)
            if name == "gate.e_score_correction_bias":
                yield to + "exp_probs_b.bias", tensor
            else:
                yield f"{to}{_FFN[name]}.weight", tensor


def _attention(
    config: ModelConfig, layer: int, name: str, tensor: Tensor, to: str
) -> Iterator[tuple[str, Tensor]]:
    if name.startswith("indexer."):
        return
    if name == "kv_b_proj.weight":
        both = tensor.reshape(config.heads, config.nope + config.v_dim, config.kv_lora)
        yield to + "attn_k_b.weight", both[:, : config.nope].transpose(1, 2)
        yield to + "attn_v_b.weight", both[:, config.nope :]
    elif name == "A_log":
        yield to + "ssm_a", -tensor.float().exp().flatten()
    elif name == "dt_bias":
        yield to + "ssm_dt.bias", tensor
    elif name == "g_proj.weight":
        yield f"{to}{'attn_gate' if config.is_full(layer) else 'ssm_g'}.weight", tensor
    elif name.endswith("conv1d.weight"):
        yield f"{to}{_ATTENTION[name]}.weight", tensor.reshape(1, -1, 1, config.conv)
    else:
        yield f"{to}{_ATTENTION[name]}.weight", tensor


def _add_trunk(writer: GGUFWriter, name: str, tensor: Tensor, dtype: torch.dtype) -> None:
    from gguf import GGMLQuantizationType

    matrix = tensor.dim() > 1 and not any(part in name for part in _FP32)
    if dtype is not torch.bfloat16 or not matrix:
        writer.add_tensor(name, tensor.float().numpy())
        return
    raw = tensor.to(torch.bfloat16).view(torch.uint8).numpy()
    writer.add_tensor(name, raw, raw_dtype=GGMLQuantizationType.BF16)


def _add_experts(writer: GGUFWriter, name: str, stacked: tuple[Tensor, ...], widen: bool) -> None:
    from gguf import GGMLQuantizationType

    if len(stacked) == 1 or widen:
        plain = stacked[0] if len(stacked) == 1 else unpack(stacked[0], stacked[1])
        writer.add_tensor(name, plain.float().numpy())
        return
    blocks = repack(*stacked)
    writer.add_tensor(name, blocks, raw_dtype=GGMLQuantizationType.MXFP4)


def repack(packed: Tensor, scales: Tensor) -> np.ndarray:
    """compressed-tensors' nibbles in GGUF's order: a block is its scale byte and 16 bytes, value j low and j + 16 high.

    packed: [..., in/2], scales: [..., in/32], u8. Gives u8 [..., in/32 · 17].
    """
    codes = torch.stack([packed & 15, packed >> 4], dim=-1).flatten(-2).unflatten(-1, (-1, BLOCK))
    halves = codes[..., : BLOCK // 2] | codes[..., BLOCK // 2 :] << 4
    return torch.cat([scales[..., None], halves], dim=-1).flatten(-2).numpy()
