"""The patch encoder's part of config.json."""

from __future__ import annotations

from typing import Any

from engine.config import K3_VISION, K25_VISION, Vision
from engine.errors import ConfigError
from engine.weights.keys import Keys, short

_KINDS = {"patchmerger": K25_VISION, "patchmergerv2": K3_VISION}
"""By projector: what a key that isn't there means, as in the code that comes with the checkpoints."""
_OLD = "patchmerger"
_NORMS = {"layernorm": "layer", "rmsnorm": "rms"}
_BIASES = ("attn_bias", "linear_bias", "patch_embed_proj_bias")
_HAS_TO_BE = {
    "merge_type": "sd2_tpool", "pos_emb_type": "divided_fixed", "mlp_type": "mlp2", "projector_hidden_act": "gelu",
    "activation_func": "gelu_pytorch_tanh", "hidden_act": "gelu_pytorch_tanh",
}  # fmt: skip
_LARGEST_MERGE = 64


def vision_from_json(found: Any, width: int) -> Vision | None:
    """found: `vision_config`. width: the language model's. Errors: ConfigError, also for what is computed otherwise."""
    if found is None:
        return None
    keys = Keys(found, "vision_config.")
    kind = keys.raw.get("mm_projector_type", _OLD)
    usual = _KINDS.get(kind) if isinstance(kind, str) else None
    if usual is None:
        raise ConfigError(
            f"config: vision_config.mm_projector_type is {short(kind)}; known are {', '.join(_KINDS)}"
        )
    _refuse_others(keys)
    hidden = _named(keys, "hidden_size")
    for key, value in (("mm_hidden_size", hidden), ("text_hidden_size", width)):
        if keys.raw.get(key) not in (None, value):
            raise ConfigError(f"config: vision_config.{key} is {short(keys.raw[key])}, it has to be {value}")
    grid = keys.whole("init_pos_emb_height", keys.raw.get("pos_emb_height", usual.grid))
    if keys.whole("init_pos_emb_width", keys.raw.get("pos_emb_width", grid)) != grid:
        raise ConfigError("config: vision_config: the grid of positions has to be as wide as high")
    return Vision(
        hidden=hidden,
        layers=_named(keys, "num_hidden_layers"),
        heads=_named(keys, "num_attention_heads"),
        inter=_named(keys, "intermediate_size"),
        width=keys.whole("qkv_hidden_size", hidden),
        patch=keys.whole("patch_size", usual.patch),
        merge=_merge(keys),
        grid=grid,
        frames=keys.whole("init_pos_emb_time", keys.raw.get("pos_emb_time", usual.frames)),
        norm=_norm(keys, usual),
        bias=_bias(keys, usual),
        positions=_positions(keys, usual),
        projector=usual.projector,
        projector_eps=keys.positive("projector_ln_eps", usual.projector_eps),
        patches=usual.patches,
        side=usual.side,
        backdrop=usual.backdrop,
    )


def vision_to_json(vision: Vision, width: int) -> dict[str, Any]:
    """What `vision_from_json` reads back; `patches`, `side` and `backdrop` are `pictures_to_json`'s."""
    kind = next(name for name, usual in _KINDS.items() if usual.projector == vision.projector)
    return {
        "vt_hidden_size": vision.hidden, "vt_num_hidden_layers": vision.layers, "vt_num_attention_heads": vision.heads,
        "vt_intermediate_size": vision.inter, "qkv_hidden_size": vision.width, "patch_size": vision.patch,
        "merge_kernel_size": [vision.merge] * 2, "merge_type": "sd2_tpool", "mlp_type": "mlp2",
        "init_pos_emb_height": vision.grid, "init_pos_emb_width": vision.grid, "init_pos_emb_time": vision.frames,
        "pos_emb_type": "divided_fixed", "pos_emb_interpolation_mode": vision.positions,
        "norm_type": next(name for name, norm in _NORMS.items() if norm == vision.norm),
        **dict.fromkeys(_BIASES, vision.bias), "activation_func": "gelu_pytorch_tanh", "mm_projector_type": kind,
        "mm_hidden_size": vision.hidden, "projector_hidden_act": "gelu", "projector_ln_eps": vision.projector_eps,
        "text_hidden_size": width,
    }  # fmt: skip


def _named(keys: Keys, name: str) -> int:
    """Checkpoints write `vt_` before the names of the encoder's sizes, converted ones don't."""
    return keys.whole(f"vt_{name}" if keys.raw.get(f"vt_{name}") is not None else name)


def _refuse_others(keys: Keys) -> None:
    for key, value in _HAS_TO_BE.items():
        if keys.raw.get(key) not in (None, value):
            raise ConfigError(
                f"config: vision_config.{key} is {short(keys.raw[key])}; this engine computes {value!r} alone"
            )


def _merge(keys: Keys) -> int:
    merge = keys.raw.get("merge_kernel_size", 2)
    if isinstance(merge, list) and len(merge) == 2 and merge[0] == merge[1]:
        merge = merge[0]
    if type(merge) is not int or not 1 <= merge <= _LARGEST_MERGE:
        raise ConfigError(
            f"config: vision_config.merge_kernel_size is {short(merge)}, it has to be a small whole number, twice"
        )
    return merge


def _norm(keys: Keys, usual: Vision) -> str:
    name = keys.raw.get("norm_type")
    if name is None:
        return usual.norm
    if not isinstance(name, str) or name not in _NORMS:
        raise ConfigError(f"config: vision_config.norm_type is {short(name)}; known are {', '.join(_NORMS)}")
    return _NORMS[name]


def _bias(keys: Keys, usual: Vision) -> bool:
    said = {keys.raw[key] for key in _BIASES if isinstance(keys.raw.get(key), bool)}
    if len(said) > 1:
        raise ConfigError(f"config: vision_config: {', '.join(_BIASES)} have to be the same")
    return said.pop() if said else usual.bias


def _positions(keys: Keys, usual: Vision) -> str:
    mode = keys.raw.get("pos_emb_interpolation_mode")
    return usual.positions if mode is None else short(mode).strip("'")
