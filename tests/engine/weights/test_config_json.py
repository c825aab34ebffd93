"""config.json: read and written back; numbers that make no model, or one of terabytes, are refused by name."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from engine.config import K3, K3_1_PRO, K3_VISION, K25_VISION, KIMI_LINEAR_48B, PRESETS  # noqa: E402
from engine.errors import ConfigError  # noqa: E402
from engine.weights.config_json import LARGEST, from_json, read_config, to_json  # noqa: E402
from engine.weights.vision_json import vision_from_json, vision_to_json  # noqa: E402

PUBLIC_KIMI_LINEAR = {
    "architectures": ["KimiLinearForCausalLM"], "model_type": "kimi_linear", "bos_token_id": 163584,
    "eos_token_id": 163586, "first_k_dense_replace": 1, "head_dim": 72, "hidden_act": "silu", "hidden_size": 2304,
    "initializer_range": 0.02, "intermediate_size": 9216, "kv_lora_rank": 512,
    "linear_attn_config": {
        "full_attn_layers": [4, 8, 12, 16, 20, 24, 27], "head_dim": 128, "num_heads": 32, "short_conv_kernel_size": 4,
        "kda_layers": [1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 17, 18, 19, 21, 22, 23, 25, 26],
    },
    "mla_use_nope": True, "model_max_length": 1048576, "moe_intermediate_size": 1024, "moe_layer_freq": 1,
    "moe_renormalize": True, "moe_router_activation_func": "sigmoid", "num_attention_heads": 32, "num_expert_group": 1,
    "num_experts": 256, "num_experts_per_token": 8, "num_hidden_layers": 27, "num_key_value_heads": 32,
    "num_nextn_predict_layers": 0, "num_shared_experts": 1, "q_lora_rank": None, "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64, "rms_norm_eps": 1e-05, "rope_scaling": None, "rope_theta": 10000.0,
    "routed_scaling_factor": 2.446, "tie_word_embeddings": False, "topk_group": 1, "use_cache": True,
    "use_grouped_topk": True, "v_head_dim": 128, "vocab_size": 163840,
}  # fmt: skip
"""The public config.json of Kimi-Linear-48B-A3B-Instruct."""


def test_the_public_config_is_the_preset() -> None:
    assert from_json(PUBLIC_KIMI_LINEAR) == KIMI_LINEAR_48B


@pytest.mark.parametrize("config", PRESETS.values(), ids=PRESETS)
def test_what_is_written_is_read_back(config) -> None:
    assert from_json(json.loads(json.dumps(to_json(config)))) == config


PUBLIC_K3_VISION = {
    "_attn_implementation": "flash_attention_2", "activation_func": "gelu_pytorch_tanh", "attn_bias": False,
    "init_pos_emb_height": 64, "init_pos_emb_time": 4, "init_pos_emb_width": 64, "linear_bias": False,
    "merge_kernel_size": [2, 2], "merge_type": "sd2_tpool", "mlp_type": "mlp2", "mm_hidden_size": 1024,
    "mm_projector_type": "patchmergerv2", "norm_type": "rmsnorm", "patch_embed_proj_bias": False, "patch_size": 14,
    "pos_emb_interpolation_mode": "bilinear", "pos_emb_type": "divided_fixed", "projector_hidden_act": "gelu",
    "projector_ln_eps": 1e-05, "qkv_hidden_size": 1536, "text_hidden_size": 7168, "vt_hidden_size": 1024,
    "vt_intermediate_size": 4096, "vt_num_attention_heads": 12, "vt_num_hidden_layers": 27,
}  # fmt: skip
"""The `vision_config` of the public config.json of Kimi K3."""
PUBLIC_K25_VISION = {
    "init_pos_emb_height": 64, "init_pos_emb_time": 4, "init_pos_emb_width": 64, "merge_kernel_size": [2, 2],
    "merge_type": "sd2_tpool", "mm_hidden_size": 1152, "mm_projector_type": "patchmerger", "patch_size": 14,
    "pos_emb_type": "divided_fixed", "projector_hidden_act": "gelu", "projector_ln_eps": 1e-05,
    "text_hidden_size": 7168, "video_attn_type": "spatial_temporal", "vt_hidden_size": 1152,
    "vt_intermediate_size": 4304, "vt_num_attention_heads": 16, "vt_num_hidden_layers": 27,
}  # fmt: skip
"""That of Kimi K2.5."""
CONVERTED_K25_VISION = {
    "hidden_size": 1152, "num_hidden_layers": 27, "num_attention_heads": 16, "intermediate_size": 4304,
    "pos_emb_height": 64, "pos_emb_width": 64, "pos_emb_time": 4, "hidden_act": "gelu_pytorch_tanh",
}  # fmt: skip


@pytest.mark.parametrize(
    ("found", "vision"),
    [(PUBLIC_K3_VISION, K3_VISION), (PUBLIC_K25_VISION, K25_VISION), (CONVERTED_K25_VISION, K25_VISION)],
)
def test_the_public_patch_encoders_are_the_presets(found: dict, vision) -> None:
    assert vision_from_json(found, 7168) == vision
    assert vision_from_json(vision_to_json(vision, 7168), 7168) == vision


def test_the_limits_of_pictures_stand_beside(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(to_json(K3)))
    beside = tmp_path / "preprocessor_config.json"
    beside.write_text(json.dumps({"media_proc_cfg": {"in_patch_limit": 1000, "patch_limit_on_one_side": 99}}))
    vision = read_config(tmp_path / "config.json").vision
    assert (vision.patches, vision.side) == (1000, 99)
    for wrong in (
        {"in_patch_limit": 0},
        {"in_patch_limit": "many"},
        {"image_mean": [0.48] * 3},
        {"patch_size": 16},
        [],
    ):
        beside.write_text(json.dumps({"media_proc_cfg": wrong} if wrong else wrong))
        with pytest.raises(ConfigError, match="config"):
            read_config(tmp_path / "config.json")
    beside.unlink()
    assert read_config(tmp_path / "config.json").vision == K3_VISION


def changed(path: str, value: object) -> dict:
    found = copy.deepcopy(to_json(K3_1_PRO))
    place = found
    *way, last = path.split(".")
    for step in way:
        place = place[step]
    place[last] = value
    return found


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("text_config.hidden_size", 1 << 39), ("text_config.num_hidden_layers", 10**9),
        ("text_config.num_experts", 1 << 40), ("text_config.vocab_size", 10**12), ("text_config.hidden_size", -7168),
        ("text_config.hidden_size", 0), ("text_config.hidden_size", 7168.0), ("text_config.hidden_size", "7168"),
        ("text_config.hidden_size", True), ("text_config.hidden_size", None), ("text_config.hidden_size", [7168]),
        ("text_config.num_experts_per_token", 897), ("text_config.moe_intermediate_size", 3071),
        ("text_config.linear_attn_config", 3), ("text_config.linear_attn_config.full_attn_layers", [0]),
        ("text_config.linear_attn_config.full_attn_layers", [94]),
        ("text_config.linear_attn_config.full_attn_layers", [1.5]),
        ("text_config.linear_attn_config.full_attn_layers", [4] * 10_000),
        ("text_config.rms_norm_eps", float("nan")), ("text_config.rms_norm_eps", 0),
        ("text_config.routed_scaling_factor", float("inf")), ("text_config.routed_scaling_factor", 10**400),
        ("text_config.activation_situ_beta", 0.0), ("text_config.hidden_act", "gelu"),
        ("text_config.eos_token_id", "2"), ("text_config.eos_token_id", [-1]),
        ("text_config.mla_use_nope", False), ("text_config.tie_word_embeddings", True),
        ("text_config.moe_router_activation_func", "softmax"), ("text_config.num_expert_group", 8),
        ("quantization_config", {"quant_method": "fp8"}), ("quantization_config", {"format": "pack-quantized"}),
        ("quantization_config", "mxfp4"), ("vision_config", 3), ("vision_config.merge_kernel_size", "2"),
        ("vision_config.merge_kernel_size", []), ("vision_config.vt_hidden_size", 1 << 40),
        ("vision_config.mm_projector_type", ["patchmerger"]), ("vision_config.norm_type", "x" * 500),
        ("vision_config.qkv_hidden_size", 1530), ("vision_config.linear_bias", True), ("vision_config.patch_size", 0),
        ("vision_config.pos_emb_interpolation_mode", "nearest"), ("vision_config.init_pos_emb_width", 63),
        ("vision_config.merge_type", "x" * 500), ("vision_config.text_hidden_size", 7169),
        ("media_placeholder_token_id", -1), ("text_config", 5),
    ],
)  # fmt: skip
def test_what_makes_no_model_is_refused_by_name(path: str, value: object) -> None:
    with pytest.raises(ConfigError) as caught:
        from_json(changed(path, value))
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"\xff", b"[]", b"3", b"{}", b"[" * 100_000, b" " * (LARGEST + 1)]
)
def test_a_file_that_is_no_config(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(raw)
    with pytest.raises(ConfigError, match="config"):
        read_config(path)


def test_no_file_at_all(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="missing"):
        read_config(tmp_path / "config.json")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
PLACES = [
    *(key for key in to_json(K3)), *(f"text_config.{key}" for key in to_json(K3)["text_config"]),
    *(f"text_config.linear_attn_config.{key}" for key in to_json(K3)["text_config"]["linear_attn_config"]),
    *(f"vision_config.{key}" for key in to_json(K3)["vision_config"]),
]  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(path=st.sampled_from(PLACES), value=JSON)
def test_whatever_stands_there_is_read_or_refused(path: str, value: object) -> None:
    try:
        config = from_json(changed(path, value))
    except ConfigError:
        return
    assert config.hidden <= 1 << 20
    assert 93 <= config.layers <= 4096
