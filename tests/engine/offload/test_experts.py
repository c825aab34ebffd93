"""Experts that are read as they are asked for compute what resident ones do, bit for bit, each read once a call."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from engine.offload.experts import OffloadedExperts  # noqa: E402
from engine.weights import names  # noqa: E402
from engine.weights.checkpoint import Checkpoint  # noqa: E402
from kernels.dispatch import available, select  # noqa: E402

KERNELS = [available()[0], "reference"]


def asked(config, rows: int, seed: int, dtype=torch.float32):
    drawn = torch.Generator().manual_seed(seed)
    ids = torch.stack([torch.randperm(config.experts, generator=drawn)[: config.top_k] for _ in range(rows)])
    return (
        torch.randn((rows, config.hidden), generator=drawn).to(dtype),
        ids.int(),
        torch.rand(ids.shape, generator=drawn),
    )


@pytest.mark.parametrize("kind", ["mxfp4", "bf16", "fp16", "fp32"])
@pytest.mark.parametrize("kernels", KERNELS)
def test_any_number_of_slots_gives_the_same_bits(folders, small, kind: str, kernels: str) -> None:
    checkpoint, ops = Checkpoint.open(folders[kind]), select("cpu", kernels)
    stacks = [checkpoint.stacked(1, part) for part in names.EXPERT_PARTS]
    with ThreadPoolExecutor(1) as pool:

        @settings(max_examples=40, deadline=None)
        @given(
            st.integers(small.top_k, small.experts),
            st.lists(st.tuples(st.integers(1, 40), st.booleans()), min_size=1, max_size=4),
            st.booleans(),
            st.sampled_from([torch.float32, torch.bfloat16]),
            st.integers(0, 99),
        )
        def check(slots: int, calls, ahead: bool, dtype, seed: int) -> None:
            experts = OffloadedExperts(checkpoint, 1, slots, ops, pool if ahead else None)
            for number, (rows, guessed) in enumerate(calls):
                x, ids, weights = asked(small, rows, seed + number, dtype)
                if guessed:
                    experts.expect(asked(small, 3, seed + number // 2)[1])
                whole = ops.experts(x, ids, weights, *stacks, small.glu)
                assert torch.equal(experts(x, ids, weights, small.glu), whole)
                assert len(experts.kept.resident) <= slots
            experts.kept.settle()
            assert len(experts.kept.resident) <= slots

        check()


@pytest.mark.parametrize("kernels", KERNELS)
@pytest.mark.parametrize("ahead", [False, True])
def test_a_long_prompt_reads_every_expert_once(folders, small, pool, kernels: str, ahead: bool) -> None:
    experts = OffloadedExperts(
        Checkpoint.open(folders["mxfp4"]), 1, 4, select("cpu", kernels), pool if ahead else None
    )
    each = 3 * 64 * 96 * 17 // 32
    for seed in range(3):
        before = experts.kept.counters.read
        x, ids, weights = asked(small, 60, seed)
        assert len(ids.unique()) == 12
        experts(x, ids, weights, small.glu)
        read = (experts.kept.counters.read - before) // each
        assert read == 12 if seed == 0 else 8 <= read <= 12
    assert experts.kept.counters.resident == len(experts.kept.resident) * each


def test_no_rows_ask_for_nothing(folders, small) -> None:
    experts = OffloadedExperts(Checkpoint.open(folders["mxfp4"]), 1, 3, select("cpu", "reference"))
    x, ids, weights = asked(small, 1, 0)
    assert experts(x[:0], ids[:0], weights[:0], small.glu).shape == (0, small.hidden)
    assert experts.kept.counters.misses == 0


def test_of_many_rows_nothing_is_guessed(folders, small, pool) -> None:
    experts = OffloadedExperts(Checkpoint.open(folders["mxfp4"]), 1, 8, select("cpu", "reference"), pool)
    experts.expect(asked(small, 5, 0)[1])
    pool.submit(int).result()
    assert experts.kept.resident == set()
    experts.expect(torch.tensor([[1, 2, 3], [3, 4, 5], [3, 5, 9], [5, 3, 9]]))
    pool.submit(int).result()
    assert experts.kept.resident == {3, 5, 9, 1, 2}, "the most asked for, and room left for one token's"
