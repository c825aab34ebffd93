"""Public tensor names of Kimi-Linear, K3 and K3.1 checkpoints, with the shape that each has to have.

K3's names stand under `language_model.`, which is left out here. An indexer's are DeepSeek-V3.2's, the patch encoder's
Kimi K2.5's.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.config import ModelConfig, Vision

Shape = tuple[int, ...]

EXPERT_PARTS = ("w1", "w3", "w2")
"""gate, up, down."""
RESIDUALS = ("self_attention_res", "mlp_res")
OUTPUT_RESIDUAL = "model.output_attn_res"


def trunk(config: ModelConfig) -> Iterator[tuple[str, Shape]]:
    """Every tensor but the routed experts: (name, shape)."""
    width = config.hidden
    yield "model.embed_tokens.weight", (config.vocab, width)
    for layer in range(config.layers):
        base = f"model.layers.{layer}."
        yield base + "input_layernorm.weight", (width,)
        yield base + "post_attention_layernorm.weight", (width,)
        if config.attn_res_block:
            for residual in RESIDUALS:
                yield f"{base}{residual}_norm.weight", (width,)
                yield f"{base}{residual}_proj.weight", (1, width)
        for name, shape in attention(config, layer):
            yield f"{base}self_attn.{name}", shape
        block = "mlp." if layer < config.dense_layers else "block_sparse_moe."
        for name, shape in feed_forward(config, layer):
            yield base + block + name, shape
    if config.attn_res_block:
        yield f"{OUTPUT_RESIDUAL}_norm.weight", (width,)
        yield f"{OUTPUT_RESIDUAL}_proj.weight", (1, width)
    yield "model.norm.weight", (width,)
    yield "lm_head.weight", (config.vocab, width)
    if config.vision is not None:
        yield from vision(config.vision, width)


def vision(config: Vision, width: int) -> Iterator[tuple[str, Shape]]:
    """The patch encoder and the projector onto the language model's `width`."""
    tower, hidden = "vision_tower.", config.hidden
    merged = hidden * config.merge**2
    yield from _product(tower + "patch_embed.proj", (hidden, 3, config.patch, config.patch), config.bias)
    yield tower + "patch_embed.pos_emb.weight", (config.grid, config.grid, hidden)
    for layer in range(config.layers):
        base = f"{tower}encoder.blocks.{layer}."
        yield from _product(base + "norm0", (hidden,), config.norm == "layer")
        yield from _product(base + "wqkv", (3 * config.width, hidden), config.bias)
        yield from _product(base + "wo", (hidden, config.width), config.bias)
        yield from _product(base + "norm1", (hidden,), config.norm == "layer")
        yield from _product(base + "mlp.fc0", (config.inter, hidden), config.bias)
        yield from _product(base + "mlp.fc1", (hidden, config.inter), config.bias)
    yield from _product(tower + "encoder.final_layernorm", (hidden,), config.norm == "layer")
    if config.projector == "before":
        yield from _product("mm_projector.pre_norm", (hidden,), True)
    yield from _product("mm_projector.proj.0", (merged, merged), config.bias)
    yield from _product("mm_projector.proj.2", (width, merged), config.bias)
    if config.projector == "after":
        yield "mm_projector.post_norm.weight", (width,)


def _product(name: str, shape: Shape, bias: bool) -> Iterator[tuple[str, Shape]]:
    yield name + ".weight", shape
    if bias:
        yield name + ".bias", shape[:1]


def attention(config: ModelConfig, layer: int) -> Iterator[tuple[str, Shape]]:
    """One layer's attention, names without the layer's own."""
    return _mla(config) if config.is_full(layer) else _kda(config)


def feed_forward(config: ModelConfig, layer: int) -> Iterator[tuple[str, Shape]]:
    """One layer's feed-forward part but the routed experts, names without the layer's own."""
    return _dense(config.dense_inter, config.hidden) if layer < config.dense_layers else _moe(config)


def experts(config: ModelConfig, layer: int) -> Iterator[tuple[str, Shape]]:
    """The routed experts of one layer, as plain matrices: (name, (out, in))."""
    for expert in range(config.experts):
        for part in EXPERT_PARTS:
            shape = (config.expert_inter, config.expert_width)
            yield expert_name(layer, expert, part), shape if part != "w2" else shape[::-1]


def expert_name(layer: int, expert: int, part: str) -> str:
    """With `_packed` and `_scale` behind it where it is MXFP4."""
    return f"model.layers.{layer}.block_sparse_moe.experts.{expert}.{part}.weight"


def moe_layers(config: ModelConfig) -> range:
    return range(config.dense_layers, config.layers)


def _kda(config: ModelConfig) -> Iterator[tuple[str, Shape]]:
    width, inner = config.hidden, config.kda_width
    for part in "qkv":
        yield f"{part}_proj.weight", (inner, width)
        yield f"{part}_conv1d.weight", (inner, 1, config.conv)
    yield "f_a_proj.weight", (config.kda_dim, width)
    yield "f_b_proj.weight", (inner, config.kda_dim)
    yield "b_proj.weight", (config.kda_heads, width)
    yield "A_log", (config.kda_heads,) if config.gate_bound is not None else (1, 1, config.kda_heads, 1)
    yield "dt_bias", (inner,)
    if config.gate_rank is None:
        yield "g_proj.weight", (inner, width)
    else:
        yield "g_a_proj.weight", (config.gate_rank, width)
        yield "g_b_proj.weight", (inner, config.gate_rank)
    yield "o_norm.weight", (config.kda_dim,)
    yield "o_proj.weight", (width, inner)


def _mla(config: ModelConfig) -> Iterator[tuple[str, Shape]]:
    width, heads = config.hidden, config.heads
    queries = heads * (config.nope + config.shared_key)
    if config.q_lora is None:
        yield "q_proj.weight", (queries, width)
    else:
        yield "q_a_proj.weight", (config.q_lora, width)
        yield "q_a_layernorm.weight", (config.q_lora,)
        yield "q_b_proj.weight", (queries, config.q_lora)
    yield "kv_a_proj_with_mqa.weight", (config.latent_width, width)
    yield "kv_a_layernorm.weight", (config.kv_lora,)
    yield "kv_b_proj.weight", (heads * (config.nope + config.v_dim), config.kv_lora)
    if config.output_gate:
        yield "g_proj.weight", (heads * config.v_dim, width)
    yield "o_proj.weight", (width, heads * config.v_dim)
    if config.indexer is not None:
        assert config.q_lora is not None
        yield "indexer.wq_b.weight", (config.indexer.heads * config.indexer.dim, config.q_lora)
        yield "indexer.wk.weight", (config.indexer.dim, width)
        yield "indexer.k_norm.weight", (config.indexer.dim,)
        yield "indexer.k_norm.bias", (config.indexer.dim,)
        yield "indexer.weights_proj.weight", (config.indexer.heads, width)


def _dense(inter: int, width: int) -> Iterator[tuple[str, Shape]]:
    yield "gate_proj.weight", (inter, width)
    yield "up_proj.weight", (inter, width)
    yield "down_proj.weight", (width, inter)


def _moe(config: ModelConfig) -> Iterator[tuple[str, Shape]]:
    yield "gate.weight", (config.experts, config.hidden)
    yield "gate.e_score_correction_bias", (config.experts,)
    if config.latent is not None:
        yield "routed_expert_down_proj.weight", (config.latent, config.hidden)
        yield "routed_expert_norm.weight", (config.latent,)
        yield "routed_expert_up_proj.weight", (config.hidden, config.latent)
    if config.shared_experts:
        for name, shape in _dense(config.expert_inter * config.shared_experts, config.hidden):
            yield "shared_experts." + name, shape
