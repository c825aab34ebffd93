"""The patch encoder and projector against transformers' `kimi_k25`, on random weights under their public names.

What it says is frozen; tests/engine/vision checks us against that too.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from engine.vision.tower import encode  # noqa: E402
from engine.weights import names  # noqa: E402
from engine.weights.build import build_vision  # noqa: E402
from kernels.dispatch import REFERENCE  # noqa: E402


def _examples():
    beside = Path(__file__).parents[1] / "engine" / "vision" / "conftest.py"
    spec = importlib.util.spec_from_file_location("vision_examples", beside)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


EXAMPLES = _examples()
SMALL, SIZES, HIDDEN = EXAMPLES.TOWERS["k2.5"], EXAMPLES.SIZES, EXAMPLES.HIDDEN
SOURCE = EXAMPLES.source_of("k2.5")


def test_tokens_are_those_of_transformers(tmp_path: Path, theirs) -> None:
    expected = theirs("kimi_k25_vision", ("transformers",), lambda: _compute(tmp_path))
    weights = build_vision(SMALL, SOURCE.tensor)
    for name, sizes in SIZES.items():
        ours = torch.cat(encode(EXAMPLES.canvases_of(sizes), weights, SMALL, REFERENCE, torch.float32))
        print(f"{name}: largest difference {(ours - expected[name]).abs().max():.2e}")
        torch.testing.assert_close(ours, expected[name], rtol=0, atol=1e-5)


def _compute(folder: Path) -> dict[str, torch.Tensor]:
    import transformers
    from safetensors.torch import save_file

    if not hasattr(transformers, "Kimi_K25Model"):
        pytest.skip("this transformers has no Kimi K2.5")
    tensors = {name: SOURCE.tensor(name).contiguous() for name, _ in names.vision(SMALL, HIDDEN)}
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    transformers.Kimi_K25Config(
        text_config={
            "model_type": "deepseek_v3", "hidden_size": HIDDEN, "num_hidden_layers": 1, "num_attention_heads": 2,
            "num_key_value_heads": 2, "vocab_size": 99, "intermediate_size": 32, "moe_intermediate_size": 32,
            "n_routed_experts": 4, "num_experts_per_tok": 2, "n_group": 1, "topk_group": 1, "q_lora_rank": 16,
            "kv_lora_rank": 16, "qk_nope_head_dim": 16, "qk_rope_head_dim": 16, "v_head_dim": 16,
            "first_k_dense_replace": 1,
        },
        vision_config={
            "hidden_size": SMALL.hidden, "num_hidden_layers": SMALL.layers, "num_attention_heads": SMALL.heads,
            "intermediate_size": SMALL.inter, "pos_emb_height": SMALL.grid, "pos_emb_width": SMALL.grid,
        },
        projection_hidden_size=SMALL.hidden,
    ).save_pretrained(folder)  # fmt: skip
    model, loaded = transformers.Kimi_K25Model.from_pretrained(
        folder, attn_implementation="eager", dtype=torch.float32, output_loading_info=True
    )
    assert not any("vision" in name or "projector" in name for name in loaded["missing_keys"])
    assert not loaded["unexpected_keys"]
    with torch.no_grad():
        return {name: _theirs(model, EXAMPLES.canvases_of(sizes)) for name, sizes in SIZES.items()}


def _theirs(model, canvases: list[torch.Tensor]) -> torch.Tensor:
    side = SMALL.patch
    grids = torch.tensor([[1, one.shape[0] // side, one.shape[1] // side] for one in canvases])
    pixels = [(one.permute(2, 0, 1).float() / 255 - 0.5) / 0.5 for one in canvases]
    cut = [one.unfold(1, side, side).unfold(2, side, side).permute(1, 2, 0, 3, 4) for one in pixels]
    patches = torch.cat([one.flatten(0, 1) for one in cut])
    return torch.cat(list(model.get_image_features(patches, grids).pooler_output))
