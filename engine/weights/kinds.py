"""Which part of a model a tensor belongs to, by its public name."""

from __future__ import annotations

import re

KINDS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        ("routed experts", r"\.block_sparse_moe\.experts\."),
        ("shared experts", r"\.shared_experts\."),
        ("expert latent", r"\.routed_expert_(down_proj|up_proj|norm)\."),
        ("router", r"\.block_sparse_moe\.gate\."),
        ("dense feed-forward", r"^model\.layers\.\d+\.mlp\."),
        ("indexer", r"\.self_attn\.indexer\."),
        ("residual mixing", r"(self_attention_res|mlp_res|output_attn_res)_(norm|proj)\."),
        (
            "linear attention",
            r"\.self_attn\.(A_log|dt_bias|[qkv]_conv1d|[kv]_proj|f_[ab]_proj|b_proj|g_[ab]_proj|o_norm)",
        ),
        ("attention", r"\.self_attn\."),
        ("norms", r"^model\.(norm|layers\.\d+\.\w+_layernorm)\."),
        ("embedding", r"^model\.embed_tokens\."),
        ("output head", r"^lm_head\."),
        ("vision", r"^(vision_tower|mm_projector|vision_model|multi_modal_projector)\."),
    )
)
OTHER = "other, not used"


def kind_of(name: str) -> str:
    return next((kind for kind, pattern in KINDS if pattern.search(name)), OTHER)
