"""A whole tiny K3 against llama.cpp: a GGUF that we write, prefill and decode; experts widened to F32, and in MXFP4.

llama.cpp rounds what it multiplies with MXFP4 to int8, in blocks of 32 under a scale in fp16. On random weights that
moves logits by several units, since routers then take other experts. So MXFP4 is compared twice: with the same rounding
done to our activations, where hardly anything may be left, and without, for the figure.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from engine.config import K3, K3_1_PRO, Indexer  # noqa: E402
from engine.weights.random import RandomSource  # noqa: E402
from kernels.reference import mxfp4  # noqa: E402

SMALL = {
    "hidden": 64, "layers": 9, "vocab": 199, "full": (3, 7, 8), "kda_heads": 4, "kda_dim": 32, "heads": 4,
    "q_lora": 48, "kv_lora": 32, "nope": 32, "shared_key": 16, "v_dim": 32, "dense_inter": 96, "experts": 8,
    "top_k": 2, "expert_inter": 64, "latent": 32, "attn_res_block": 4, "context": 4096, "vision": None,
}  # fmt: skip
TOKENS = 200
CONFIGS = {
    "k3": replace(K3, **SMALL),
    # An indexer that takes all of so short a text: K3.1 is K3 up to its top-k tokens.
    "k3.1": replace(K3_1_PRO, **SMALL, indexer=Indexer(4, 16, TOKENS)),
}


SHORT, SEED = 16, 64
"""A text whose every activation is well away from the middle between two whole numbers: other orders of addition round
none of them the other way."""
EVERY = 10  # so many logits' rows are compared, and all of their largest


@pytest.mark.parametrize("name", CONFIGS)
def test_logits_are_those_of_llama_cpp(tmp_path: Path, logits, theirs, name: str) -> None:
    config = CONFIGS[name]
    source = RandomSource(config)
    tokens = torch.randint(0, config.vocab, (TOKENS,), generator=torch.Generator().manual_seed(0))
    expected = theirs(
        f"kimi_{name}",
        ("llama_cpp_python", "gguf"),
        lambda: _compute(config, source, tokens, tmp_path, widen=True),
    )
    ours = logits(config, source, tokens)
    for step in ("prefill", "decode"):
        rows, largest = expected[step], expected[f"{step}_argmax"]
        print(f"{name}, {step}: largest difference {(ours[::EVERY] - rows).abs().max():.2e}")
        torch.testing.assert_close(ours[::EVERY], rows, rtol=0, atol=1e-3)
        assert torch.equal(ours.argmax(-1).int(), largest)


def test_mxfp4_differs_by_the_rounding_of_activations_alone(tmp_path, logits, theirs, monkeypatch) -> None:
    config = CONFIGS["k3"]
    source, exactly = RandomSource(config), mxfp4.mxfp4_linear
    tokens = torch.randint(0, config.vocab, (SHORT,), generator=torch.Generator().manual_seed(SEED))
    expected = theirs(
        "kimi_k3_mxfp4",
        ("llama_cpp_python", "gguf"),
        lambda: _compute(config, source, tokens, tmp_path, widen=False, every=1),
    )
    plain, from_middle = logits(config, source, tokens), []

    def as_theirs(x, packed, scales):
        blocks = x.unflatten(-1, (-1, mxfp4.BLOCK))
        largest = blocks.abs().amax(-1, keepdim=True)
        steps = blocks * torch.where(largest > 0, 127 / largest, 0)
        from_middle.append((steps - steps.floor() - 0.5).abs().min().item())
        return exactly((steps.round() * (largest / 127).half().float()).flatten(-2), packed, scales)

    monkeypatch.setattr(mxfp4, "mxfp4_linear", as_theirs)
    rounded = logits(config, source, tokens)
    assert min(from_middle) > 5e-5
    for step in ("prefill", "decode"):
        rows, largest = expected[step], expected[f"{step}_argmax"]
        off, unrounded = (rounded - rows).abs().max(), (plain - rows).abs().max()
        print(f"k3 in MXFP4, {step}: largest difference {off:.2e}, {unrounded:.2e} without their rounding")
        torch.testing.assert_close(rounded, rows, rtol=0, atol=1e-4)
        assert torch.equal(rounded.argmax(-1).int(), largest)
        assert unrounded > 0.1


def _compute(
    config, source, tokens: torch.Tensor, folder: Path, *, widen: bool, every: int = EVERY
) -> dict[str, torch.Tensor]:
    import llama_cpp

    from engine.weights.gguf import export

    export(config, source, folder / "model.gguf", widen_experts=widen)
    answers = {}
    for name, step in (("prefill", len(tokens)), ("decode", 1)):
        llama = llama_cpp.Llama(
            str(folder / "model.gguf"), n_ctx=512, n_batch=512, n_threads=1, logits_all=True, verbose=False,
            type_k=llama_cpp.GGML_TYPE_F32, type_v=llama_cpp.GGML_TYPE_F32,
        )  # fmt: skip
        for first in range(0, len(tokens), step):
            llama.eval(tokens[first : first + step].tolist())
        made = torch.tensor(llama.scores[: len(tokens)])
        answers |= {name: made[::every], f"{name}_argmax": made.argmax(-1).int()}
    return answers
