"""The delta rule and its two decays against fla's plain definitions (fla-core, `fla.ops.kda`)."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from kernels.layout import Sequences  # noqa: E402
from kernels.reference.kda import kda_chunked, kda_inputs, kda_recurrent  # noqa: E402

TOKENS, HEADS, WIDTH = 150, 3, 16
NEEDS = ("fla-core", "triton")  # fla doesn't import without triton


def _drawn(*shape: int, seed: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def _inputs(bound: float | None) -> tuple[torch.Tensor, ...]:
    q, k, v, decay = (_drawn(TOKENS, HEADS, WIDTH, seed=seed) for seed in range(4))
    beta = torch.sigmoid(_drawn(TOKENS, HEADS, seed=4))
    a_log, dt_bias = _drawn(HEADS, seed=5), _drawn(HEADS * WIDTH, seed=6) - 1
    q, k, g = kda_inputs(q, k, decay, a_log, dt_bias, bound)
    return q, k, v, g, beta, _drawn(1, HEADS, WIDTH, WIDTH, seed=7), decay, a_log, dt_bias


@pytest.mark.parametrize(("name", "bound"), [("k3", -5.0), ("linear", None)])
def test_decays(theirs, name: str, bound: float | None) -> None:
    *_, decay, a_log, dt_bias = _inputs(bound)

    def compute() -> dict[str, torch.Tensor]:
        from fla.ops.kda.gate import naive_kda_gate, naive_kda_lowerbound_gate

        if bound is None:
            return {"g": naive_kda_gate(decay, a_log, dt_bias)}
        return {"g": naive_kda_lowerbound_gate(decay, a_log, dt_bias, lower_bound=bound)}

    expected = theirs(f"kda_decay_{name}", NEEDS, compute)["g"]
    ours = kda_inputs(decay, decay, decay, a_log, dt_bias, bound)[2]
    print(f"{name}: largest difference {(ours - expected).abs().max():.2e}")
    torch.testing.assert_close(ours, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("run", [kda_recurrent, kda_chunked])
@pytest.mark.parametrize(("name", "bound"), [("k3", -5.0), ("linear", None)])
def test_the_recurrence(theirs, name: str, bound: float | None, run) -> None:
    q, k, v, g, beta, state, *_ = _inputs(bound)

    def compute() -> dict[str, torch.Tensor]:
        from fla.ops.kda.naive import naive_recurrent_kda

        # Our queries carry d^-½ already; their key dimension comes first in the state, as ours does.
        out, last = naive_recurrent_kda(
            q[None], k[None], v[None], g[None], beta[None], 1.0, state.clone(), output_final_state=True
        )
        return {"out": out[0], "state": last[0]}

    expected = theirs(f"kda_{name}", NEEDS, compute)
    states = state.clone()
    sequences = Sequences.of([TOKENS], [TOKENS], [0], torch.zeros(1, 3))
    out = run(q, k, v, g, beta, states, sequences)
    print(f"{name}, {run.__name__}: largest difference {(out - expected['out']).abs().max():.2e}")
    torch.testing.assert_close(out, expected["out"], rtol=1e-6, atol=2e-6)
    torch.testing.assert_close(states[0], expected["state"], rtol=1e-6, atol=2e-6)
