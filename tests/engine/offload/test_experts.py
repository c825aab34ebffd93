"""Experts that are read as they are asked for compute what resident ones do, bit for bit, in bounded memory."""

from __future__ import annotations

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from engine.config import KIMI_LINEAR_48B  # noqa: E402
from engine.errors import CapacityError, CheckpointError  # noqa: E402
from engine.offload.experts import OffloadedExperts  # noqa: E402
from engine.weights import names  # noqa: E402
from engine.weights.checkpoint import Checkpoint  # noqa: E402
from engine.weights.random import RandomSource  # noqa: E402
from engine.weights.save import save  # noqa: E402
from kernels.dispatch import REFERENCE, available, select  # noqa: E402

CONFIG = replace(
    KIMI_LINEAR_48B, hidden=64, layers=2, vocab=17, full=(1,), kda_heads=1, kda_dim=16, heads=1, kv_lora=32, nope=16,
    shared_key=8, v_dim=16, dense_inter=32, experts=12, top_k=3, expert_inter=96, gate_rank=16, bos=1, eos=(2,),
)  # fmt: skip
KINDS = {"mxfp4": torch.bfloat16, "bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
"""What experts are stored as, and what all else is."""
EACH = 3 * 64 * 96 * 17 // 32


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    made = {}
    for kind, dtype in KINDS.items():
        made[kind] = tmp_path_factory.mktemp("experts")
        save(CONFIG, RandomSource(CONFIG, mxfp4=kind == "mxfp4", dtype=dtype), made[kind])
    return made


def asked(rows: int, seed: int):
    drawn = torch.Generator().manual_seed(seed)
    ids = torch.stack([torch.randperm(CONFIG.experts, generator=drawn)[: CONFIG.top_k] for _ in range(rows)])
    return (
        torch.randn((rows, CONFIG.hidden), generator=drawn),
        ids.int(),
        torch.rand(ids.shape, generator=drawn),
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kernels", [available()[0], "reference"])
def test_any_number_of_slots_gives_the_same_bits(folders, kind: str, kernels: str) -> None:
    checkpoint, ops = Checkpoint.open(folders[kind]), select("cpu", kernels)
    stacks = [checkpoint.stacked(1, part) for part in names.EXPERT_PARTS]

    @settings(max_examples=25, deadline=None)
    @given(
        st.integers(CONFIG.top_k, CONFIG.experts),
        st.lists(st.integers(1, 40), min_size=1, max_size=4),
        st.integers(0, 99),
    )
    def check(slots: int, calls: list[int], seed: int) -> None:
        experts = OffloadedExperts(checkpoint, 1, slots, ops)
        for number, rows in enumerate(calls):
            x, ids, weights = asked(rows, seed + number)
            whole = ops.experts(x, ids, weights, *stacks, CONFIG.glu)
            assert torch.equal(experts(x, ids, weights, CONFIG.glu), whole)
            assert len(experts.resident) <= slots

    check()


def test_what_is_resident_is_not_read_again(folders) -> None:
    experts = OffloadedExperts(Checkpoint.open(folders["mxfp4"]), 1, 4, REFERENCE)
    experts.hold([0, 1, 2])
    experts.hold([0, 1, 3])
    assert (experts.counters.hits, experts.counters.misses, experts.counters.read) == (2, 4, 4 * EACH)


def test_the_least_asked_for_leaves(folders) -> None:
    experts = OffloadedExperts(Checkpoint.open(folders["mxfp4"]), 1, 4, REFERENCE)
    for group in ([0, 1], [0, 1], [0, 1], [2, 3], [4]):
        experts.hold(group)
    assert experts.resident == {0, 1, 3, 4}


def test_fewer_slots_than_a_token_has_experts_are_refused(folders) -> None:
    with pytest.raises(CapacityError, match="2 slots"):
        OffloadedExperts(Checkpoint.open(folders["mxfp4"]), 1, 2, REFERENCE)


def test_a_file_cut_short_in_use_is_told(tmp_path) -> None:
    save(CONFIG, RandomSource(CONFIG, mxfp4=True), tmp_path)
    checkpoint = Checkpoint.open(tmp_path)
    experts = OffloadedExperts(checkpoint, 1, 4, REFERENCE)
    entry = checkpoint.entry(names.expert_name(1, 5, "w2") + "_packed")
    with entry.file.open("r+b") as file:
        file.truncate(entry.start + 1)
    with pytest.raises(CheckpointError, match="cut short"):
        experts.hold([5])
    assert experts.resident == set()


def test_a_scale_that_makes_no_number_is_told_when_it_is_read(tmp_path) -> None:
    save(CONFIG, RandomSource(CONFIG, mxfp4=True), tmp_path)
    checkpoint = Checkpoint.open(tmp_path)
    experts = OffloadedExperts(checkpoint, 1, 4, REFERENCE)
    entry = checkpoint.entry(names.expert_name(1, 5, "w2") + "_scale")
    with entry.file.open("r+b") as file:
        file.seek(entry.start)
        file.write(b"\xff")
    experts.hold([4])
    with pytest.raises(CheckpointError, match="expert 5: a scale of 255"):
        experts.hold([5, 6])
    assert experts.resident == {4}
    experts.hold([6])
    assert experts.resident == {4, 6}
