"""A model's weights from tensors under their public names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor

from engine.config import ModelConfig, Vision
from engine.layers.dsa import IndexerWeights, MlaWeights
from engine.layers.ffn import DenseWeights, Elsewhere, ExpertWeights, MoeWeights
from engine.layers.kda import KdaWeights
from engine.model import LayerWeights, ModelWeights
from engine.vision.tower import Affine, BlockWeights, VisionWeights
from engine.weights import names

Get = Callable[[str], Tensor]


class Source(Protocol):
    """Where tensors come from: `tensor` by public name, `stacked` a layer's experts of one part."""

    def tensor(self, name: str) -> Tensor: ...

    def stacked(self, layer: int, part: str) -> tuple[Tensor, ...]:
        """(packed [E, out, in/2], scales [E, out, in/32]) in MXFP4, or one plain tensor [E, out, in]."""
        ...


def build(
    config: ModelConfig, source: Source, elsewhere: Callable[[int], Elsewhere | None] | None = None
) -> ModelWeights:
    """All weights of the model, in the dtypes that the source gives; small vectors in fp32. elsewhere: a layer's routed
    experts where they aren't to be read as a stack."""
    get = source.tensor
    layers = [
        _layer(config, source, number, elsewhere(number) if elsewhere else None)
        for number in range(config.layers)
    ]
    score = residual_score(get, names.OUTPUT_RESIDUAL) if config.attn_res_block else None
    norm, head = get("model.norm.weight"), get("lm_head.weight")
    vision = build_vision(config.vision, get) if config.vision is not None else None
    return ModelWeights(get("model.embed_tokens.weight"), layers, norm, head, score, vision)


def _layer(config: ModelConfig, source: Source, number: int, elsewhere: Elsewhere | None) -> LayerWeights:
    get = source.tensor
    base = f"model.layers.{number}."
    attention = (_mla if config.is_full(number) else _kda)(
        config, lambda name: get(f"{base}self_attn.{name}")
    )
    if number < config.dense_layers:
        ffn = _dense(lambda name: get(f"{base}mlp.{name}"))
    else:
        ffn = _moe(config, source, number, elsewhere, lambda name: get(f"{base}block_sparse_moe.{name}"))
    scores = [
        residual_score(get, base + residual) if config.attn_res_block else None
        for residual in names.RESIDUALS
    ]
    norms = get(base + "input_layernorm.weight"), get(base + "post_attention_layernorm.weight")
    return LayerWeights(norms[0], attention, norms[1], ffn, *scores)


def residual_score(get: Get, base: str) -> Tensor:
    """Norm weight times projection: only their product is ever used."""
    return get(f"{base}_norm.weight").float().flatten() * get(f"{base}_proj.weight").float().flatten()


def _kda(config: ModelConfig, get: Get) -> KdaWeights:
    conv = torch.cat([get(f"{part}_conv1d.weight").reshape(config.kda_width, config.conv) for part in "qkv"])
    gate = ("g_proj",) if config.gate_rank is None else ("g_a_proj", "g_b_proj")
    return KdaWeights(
        q=get("q_proj.weight"),
        k=get("k_proj.weight"),
        v=get("v_proj.weight"),
        conv=conv,
        f_a=get("f_a_proj.weight"),
        f_b=get("f_b_proj.weight"),
        b=get("b_proj.weight"),
        a_log=get("A_log").float().flatten()[: config.kda_heads],
        dt_bias=get("dt_bias").float().flatten(),
        gate=tuple(get(f"{name}.weight") for name in gate),
        norm=get("o_norm.weight"),
        o=get("o_proj.weight"),
    )


def _mla(config: ModelConfig, get: Get) -> MlaWeights:
    """kv_b is split into its key and value halves: the absorbed form applies them on either side of the cache."""
    both = get("kv_b_proj.weight").reshape(config.heads, config.nope + config.v_dim, config.kv_lora)
    compressed = config.q_lora is not None
    return MlaWeights(
        q_a=get("q_a_proj.weight") if compressed else None,
        q_norm=get("q_a_layernorm.weight") if compressed else None,
        q_b=get("q_b_proj.weight" if compressed else "q_proj.weight"),
        kv_a=get("kv_a_proj_with_mqa.weight"),
        kv_norm=get("kv_a_layernorm.weight"),
        k_b=both[:, : config.nope],
        v_b=both[:, config.nope :],
        gate=get("g_proj.weight") if config.output_gate else None,
        o=get("o_proj.weight"),
        indexer=_indexer(get) if config.indexer is not None else None,
    )


def _indexer(get: Get) -> IndexerWeights:
    found = ("wq_b.weight", "wk.weight", "k_norm.weight", "k_norm.bias", "weights_proj.weight")
    return IndexerWeights(*(get(f"indexer.{name}") for name in found))


def _dense(get: Get) -> DenseWeights:
    return DenseWeights(*(get(f"{part}_proj.weight") for part in ("gate", "up", "down")))


def _moe(
    config: ModelConfig, source: Source, number: int, elsewhere: Elsewhere | None, get: Get
) -> MoeWeights:
    experts = elsewhere or ExpertWeights(*(source.stacked(number, part) for part in names.EXPERT_PARTS))
    latent = config.latent is not None
    return MoeWeights(
        router=get("gate.weight"),
        bias=get("gate.e_score_correction_bias").float(),
        experts=experts,
        latent_down=get("routed_expert_down_proj.weight") if latent else None,
        latent_norm=get("routed_expert_norm.weight") if latent else None,
        latent_up=get("routed_expert_up_proj.weight") if latent else None,
        shared=_dense(lambda name: get(f"shared_experts.{name}")) if config.shared_experts else None,
    )


def build_vision(config: Vision, get: Get) -> VisionWeights:
    def affine(name: str, bias: bool = config.bias) -> Affine:
        return Affine(get(f"{name}.weight"), get(f"{name}.bias") if bias else None)

    def norm(name: str) -> Affine:
        return affine(name, config.norm == "layer")

    def block(base: str) -> BlockWeights:
        parts = ("norm0", "wqkv", "wo", "norm1", "mlp.fc0", "mlp.fc1")
        return BlockWeights(*((norm if part.startswith("norm") else affine)(base + part) for part in parts))

    tower, projector = "vision_tower.", "mm_projector."
    patch = affine(tower + "patch_embed.proj")
    before = config.projector == "before"
    return VisionWeights(
        patch=Affine(patch.weight.flatten(1), patch.bias),
        positions=get(tower + "patch_embed.pos_emb.weight"),
        blocks=[block(f"{tower}encoder.blocks.{number}.") for number in range(config.layers)],
        norm=norm(tower + "encoder.final_layernorm"),
        before=affine(projector + "pre_norm", True) if before else None,
        first=affine(projector + "proj.0"),
        second=affine(projector + "proj.2"),
        after=None if before else get(projector + "post_norm.weight"),
    )
