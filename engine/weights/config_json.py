"""ModelConfig from a checkpoint's config.json, and back: the public keys of Kimi-Linear, K3 and K3.1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.config import Indexer, ModelConfig
from engine.errors import CheckpointError, ConfigError
from engine.weights.files import read_json
from engine.weights.keys import LARGEST_OF, Keys
from engine.weights.pictures_json import pictures_from_json
from engine.weights.vision_json import vision_from_json, vision_to_json

LARGEST = 1 << 20
"""Bytes; a config.json is some kilobytes."""
_REQUIRED = {
    "hidden": "hidden_size", "layers": "num_hidden_layers", "vocab": "vocab_size", "heads": "num_attention_heads",
    "kv_lora": "kv_lora_rank", "nope": "qk_nope_head_dim", "shared_key": "qk_rope_head_dim", "v_dim": "v_head_dim",
    "dense_inter": "intermediate_size", "experts": "num_experts", "top_k": "num_experts_per_token",
    "shared_experts": "num_shared_experts", "expert_inter": "moe_intermediate_size",
}  # fmt: skip
PICTURES = "preprocessor_config.json"
MXFP4_FORMAT = "mxfp4-pack-quantized"
_HAS_TO_BE: dict[str, tuple[Any, ...]] = {
    "moe_router_activation_func": ("sigmoid",), "mla_use_nope": (True,), "tie_word_embeddings": (False,),
    "num_expert_group": (0, 1), "topk_group": (0, 1), "moe_layer_freq": (1,),
}  # fmt: skip
"""Where a checkpoint says something else, this model would compute something else."""


def read_config(path: Path) -> ModelConfig:
    """The model that `path` (a config.json) describes, and its pictures as preprocessor_config.json has
    them.
    Errors: ConfigError, naming the file and the key."""
    try:
        config = from_json(read_json(path.parent, path.name, LARGEST))
        if config.vision is None or not (path.parent / PICTURES).exists():
            return config
        found = read_json(path.parent, PICTURES, LARGEST)
        return replace(config, vision=pictures_from_json(found, config.vision))
    except CheckpointError as error:
        raise ConfigError(str(error)) from error
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def from_json(found: Any) -> ModelConfig:
    """Raises ConfigError for a missing key or a value of the wrong kind."""
    if not isinstance(found, Mapping):
        raise ConfigError("config: not an object")
    text = Keys(found.get("text_config") or found)
    _refuse_others(found, text)
    linear = Keys(text.object("linear_attn_config"), "linear_attn_config.")
    activation = text.raw.get("hidden_act", "silu")
    gated = activation == "situ"
    indexer = None
    if text.raw.get("index_topk") is not None:
        indexer = Indexer(text.whole("index_n_heads"), text.whole("index_head_dim"), text.whole("index_topk"))
    return ModelConfig(
        **{field: text.whole(key) for field, key in _REQUIRED.items()},
        full=tuple(sorted({number - 1 for number in linear.wholes("full_attn_layers")})),
        kda_heads=linear.whole("num_heads"),
        kda_dim=linear.whole("head_dim"),
        conv=linear.whole("short_conv_kernel_size"),
        gate_bound=linear.real("gate_lower_bound", None),
        gate_rank=None if linear.raw.get("gate_lower_bound") is not None else linear.whole("head_dim"),
        q_lora=text.whole("q_lora_rank") if text.raw.get("q_lora_rank") is not None else None,
        output_gate=bool(text.raw.get("mla_use_output_gate", gated)),
        indexer=indexer,
        dense_layers=text.whole("first_k_dense_replace", 1),
        latent=text.whole("routed_expert_hidden_size") if text.raw.get("routed_expert_hidden_size") else None,
        router_scale=text.positive("routed_scaling_factor", 1.0),
        renormalise=bool(text.get("moe_renormalize", True)),
        activation=str(activation),
        situ_beta=text.positive("activation_situ_beta", 4.0),
        situ_linear_beta=text.positive("activation_situ_linear_beta", 25.0),
        attn_res_block=text.whole("attn_res_block_size", 0),
        eps=text.positive("rms_norm_eps", 1e-5),
        context=text.whole("max_position_embeddings", 1_048_576),
        bos=text.whole("bos_token_id") if text.raw.get("bos_token_id") is not None else None,
        eos=_tokens(text.raw.get("eos_token_id")),
        vision=vision_from_json(found.get("vision_config"), text.whole("hidden_size")),
        placeholder=_placeholder(found),
        name=str(found.get("_name_or_path") or found.get("model_type") or ""),
    )


def to_json(config: ModelConfig) -> dict[str, Any]:
    """What `from_json` reads back as an equal config."""
    text: dict[str, Any] = {key: getattr(config, field) for field, key in _REQUIRED.items()}
    text |= {
        "q_lora_rank": config.q_lora, "first_k_dense_replace": config.dense_layers, "hidden_act": config.activation,
        "routed_scaling_factor": config.router_scale, "moe_renormalize": config.renormalise,
        "moe_router_activation_func": "sigmoid", "mla_use_nope": True, "mla_use_output_gate": config.output_gate,
        "rms_norm_eps": config.eps, "max_position_embeddings": config.context, "bos_token_id": config.bos,
        "eos_token_id": list(config.eos), "attn_res_block_size": config.attn_res_block,
        "activation_situ_beta": config.situ_beta, "activation_situ_linear_beta": config.situ_linear_beta,
        "routed_expert_hidden_size": config.latent,
        "linear_attn_config": {
            "full_attn_layers": [layer + 1 for layer in config.full],
            "kda_layers": [layer + 1 for layer in range(config.layers) if not config.is_full(layer)],
            "head_dim": config.kda_dim, "num_heads": config.kda_heads, "short_conv_kernel_size": config.conv,
            "gate_lower_bound": config.gate_bound,
        },
    }  # fmt: skip
    if config.indexer is not None:
        text |= {"index_n_heads": config.indexer.heads, "index_head_dim": config.indexer.dim}
        text["index_topk"] = config.indexer.top_k
    if config.gate_bound is None:
        return {"architectures": ["KimiLinearForCausalLM"], "model_type": "kimi_linear", **text}
    name = "KimiK3ForConditionalGeneration" if config.indexer is None else "KimiK31ForConditionalGeneration"
    whole: dict[str, Any] = {
        "architectures": [name],
        "model_type": config.name or "kimi_k3",
        "text_config": text,
    }
    if config.vision is not None:
        whole["vision_config"] = vision_to_json(config.vision, config.hidden)
    if config.placeholder is not None:
        whole["media_placeholder_token_id"] = config.placeholder
    return whole


def _refuse_others(found: Mapping[str, Any], text: Keys) -> None:
    for key, allowed in _HAS_TO_BE.items():
        value = text.raw.get(key, found.get(key))
        if value is not None and value not in allowed:
            raise ConfigError(f"config: {key} is {value!r}; this engine computes {allowed[-1]!r} alone")
    quantised = found.get("quantization_config") or text.raw.get("quantization_config")
    if quantised is not None:
        form = quantised.get("format") if isinstance(quantised, Mapping) else quantised
        if form != MXFP4_FORMAT:
            raise ConfigError(
                f"config: weights quantised as {form!r}; known are plain ones and {MXFP4_FORMAT}"
            )


def _placeholder(found: Mapping[str, Any]) -> int | None:
    value = found.get("media_placeholder_token_id")
    return None if value is None else Keys(found).whole("media_placeholder_token_id")


def _tokens(found: Any) -> tuple[int, ...]:
    if found is None:
        return ()
    several = found if isinstance(found, list) else [found]
    if not all(type(token) is int and 0 <= token < LARGEST_OF["vocab_size"] for token in several):
        raise ConfigError(f"config: eos_token_id is {found!r}, not token ids")
    return tuple(several)
