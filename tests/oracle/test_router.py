"""Which experts a token goes to, and their weights, against the routers of transformers' DeepSeek-V3.2 and GLM-5."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")

from kernels.reference.router import route  # noqa: E402

TOKENS, HIDDEN, EXPERTS, TOP, SCALE = 200, 32, 24, 4, 2.446


def _drawn(*shape: int, seed: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


X, WEIGHT, BIAS = (
    _drawn(TOKENS, HIDDEN, seed=0),
    _drawn(EXPERTS, HIDDEN, seed=1),
    _drawn(EXPERTS, seed=2) * 0.2,
)
FIELDS = {
    "num_experts_per_tok": TOP, "num_local_experts": EXPERTS, "n_routed_experts": EXPERTS, "hidden_size": HIDDEN,
    "routed_scaling_factor": SCALE, "n_group": 1, "topk_group": 1,
}  # fmt: skip


def _compute(name: str, renormalise: bool) -> dict[str, torch.Tensor]:
    if name == "deepseek_v32":
        from transformers.models.deepseek_v32.modeling_deepseek_v32 import DeepseekV32TopkRouter as Router
    else:
        from transformers.models.glm5_next.modeling_glm5_next import Glm5NextTextTopkRouter as Router
    router = Router(SimpleNamespace(**FIELDS, norm_topk_prob=renormalise))
    router.load_state_dict({"weight": WEIGHT, "e_score_correction_bias": BIAS})
    with torch.no_grad():
        _, weights, ids = router(X)
    ids, order = ids.sort(-1)
    return {"ids": ids.int(), "weights": weights.gather(-1, order)}


@pytest.mark.parametrize("renormalise", [True, False])
@pytest.mark.parametrize("name", ["deepseek_v32", "glm5_next"])
def test_experts_and_weights(theirs, name: str, renormalise: bool) -> None:
    expected = theirs(
        f"router_{name}_{'renormalised' if renormalise else 'plain'}", ("transformers",),
        lambda: _compute(name, renormalise),
    )  # fmt: skip
    ids, weights = route(X, WEIGHT, BIAS, TOP, SCALE, renormalise)
    ids, order = ids.sort(-1)
    weights = weights.gather(-1, order)
    assert torch.equal(ids, expected["ids"])
    print(f"{name}: largest difference {(weights - expected['weights']).abs().max():.2e}")
    torch.testing.assert_close(weights, expected["weights"], rtol=1e-6, atol=1e-6)
