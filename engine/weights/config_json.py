"""ModelConfig from a checkpoint's config.json, and back: the public keys of Kimi-Linear, K3 and K3.1."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.config import Indexer, ModelConfig, Vision
from engine.errors import ConfigError

LARGEST = 1 << 20
"""Bytes; a config.json is some kilobytes."""
_REQUIRED = {
    "hidden": "hidden_size", "layers": "num_hidden_layers", "vocab": "vocab_size", "heads": "num_attention_heads",
    "kv_lora": "kv_lora_rank", "nope": "qk_nope_head_dim", "shared_key": "qk_rope_head_dim", "v_dim": "v_head_dim",
    "dense_inter": "intermediate_size", "experts": "num_experts", "top_k": "num_experts_per_token",
    "shared_experts": "num_shared_experts", "expert_inter": "moe_intermediate_size",
}  # fmt: skip
_OTHER_NAMES = {
    "num_experts": "num_local_experts", "num_experts_per_token": "num_experts_per_tok",
    "num_shared_experts": "n_shared_experts", "max_position_embeddings": "model_max_length",
    "moe_renormalize": "norm_topk_prob",
}  # fmt: skip


def read_config(path: Path) -> ModelConfig:
    """The model that `path` (a config.json) describes. Errors: ConfigError, naming the file and the key."""
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST + 1)
        if len(raw) > LARGEST:
            raise ConfigError(f"{path}: over {LARGEST} bytes; this is no config.json")
        found = json.loads(raw)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise ConfigError(f"{path}: not JSON: {error}") from error
    try:
        return from_json(found)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def from_json(found: Any) -> ModelConfig:
    """Raises ConfigError for a missing key or a value of the wrong kind."""
    if not isinstance(found, Mapping):
        raise ConfigError("config: not an object")
    text = _Keys(found.get("text_config") or found)
    linear = _Keys(text.object("linear_attn_config"), "linear_attn_config.")
    activation = text.raw.get("hidden_act", "silu")
    gated = activation == "situ"
    indexer = None
    if text.raw.get("index_topk") is not None:
        indexer = Indexer(text.whole("index_n_heads"), text.whole("index_head_dim"), text.whole("index_topk"))
    return ModelConfig(
        **{field: text.whole(key) for field, key in _REQUIRED.items()},
        full=tuple(number - 1 for number in linear.wholes("full_attn_layers")),
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
        router_scale=text.real("routed_scaling_factor", 1.0) or 1.0,
        renormalise=bool(text.get("moe_renormalize", True)),
        activation=str(activation),
        situ_beta=text.real("activation_situ_beta", 4.0) or 4.0,
        situ_linear_beta=text.real("activation_situ_linear_beta", 25.0) or 0.0,
        attn_res_block=text.whole("attn_res_block_size", 0),
        eps=text.real("rms_norm_eps", 1e-5) or 1e-5,
        context=text.whole("max_position_embeddings", 1_048_576),
        bos=text.whole("bos_token_id") if text.raw.get("bos_token_id") is not None else None,
        eos=_tokens(text.raw.get("eos_token_id")),
        vision=_vision(found.get("vision_config")),
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
        vision = config.vision
        whole["vision_config"] = {
            "hidden_size": vision.hidden, "num_hidden_layers": vision.layers, "num_attention_heads": vision.heads,
            "intermediate_size": vision.inter, "patch_size": vision.patch, "merge_kernel_size": [vision.merge] * 2,
            "init_pos_emb_height": vision.grid, "init_pos_emb_time": vision.frames,
        }  # fmt: skip
    return whole


def _tokens(found: Any) -> tuple[int, ...]:
    if found is None:
        return ()
    several = found if isinstance(found, list) else [found]
    if not all(isinstance(token, int) for token in several):
        raise ConfigError(f"config: eos_token_id is {found!r}, not token ids")
    return tuple(several)


def _vision(found: Any) -> Vision | None:
    if found is None:
        return None
    keys = _Keys(found, "vision_config.")
    merge = keys.raw.get("merge_kernel_size", 2)
    return Vision(
        hidden=keys.whole("hidden_size"),
        layers=keys.whole("num_hidden_layers"),
        heads=keys.whole("num_attention_heads"),
        inter=keys.whole("intermediate_size"),
        patch=keys.whole("patch_size", 14),
        merge=merge[0] if isinstance(merge, list) and merge else int(merge),
        grid=keys.whole("init_pos_emb_height", 64),
        frames=keys.whole("init_pos_emb_time", 4),
    )


class _Keys:
    """An object of the config, whose values are checked as they are read."""

    def __init__(self, raw: Any, where: str = "") -> None:
        if not isinstance(raw, Mapping):
            raise ConfigError(f"config: {where.rstrip('.') or 'text_config'} is no object")
        self.raw, self.where = raw, where

    def get(self, key: str, default: Any = ...) -> Any:
        for name in (key, _OTHER_NAMES.get(key, key)):
            if self.raw.get(name) is not None:
                return self.raw[name]
        if default is ...:
            raise ConfigError(f"config: {self.where}{key} is missing")
        return default

    def object(self, key: str) -> Any:
        return self.get(key)

    def whole(self, key: str, default: Any = ...) -> int:
        value = self.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 40:
            raise ConfigError(f"config: {self.where}{key} is {value!r}, it has to be a whole number")
        return value

    def wholes(self, key: str) -> list[int]:
        value = self.get(key)
        if not isinstance(value, list) or not all(isinstance(n, int) for n in value):
            raise ConfigError(f"config: {self.where}{key} is no list of whole numbers")
        return value

    def real(self, key: str, default: float | None) -> float | None:
        value = self.get(key, default)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise ConfigError(f"config: {self.where}{key} is {value!r}, it has to be a number")
        return None if value is None else float(value)
