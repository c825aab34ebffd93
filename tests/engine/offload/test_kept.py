"""Which experts stay, which leave, and what is read ahead; what a damaged file does to it."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from engine.errors import CapacityError, CheckpointError  # noqa: E402
from engine.offload.kept import Counters, Kept  # noqa: E402
from engine.weights import names  # noqa: E402
from engine.weights.checkpoint import Checkpoint  # noqa: E402
from engine.weights.random import RandomSource  # noqa: E402
from engine.weights.save import save  # noqa: E402

EACH = 3 * 64 * 96 * 17 // 32


@pytest.fixture
def kept(folders) -> Kept:
    """Room for four."""
    return Kept(Checkpoint.open(folders["mxfp4"]), 1, 4)


@pytest.fixture
def own(small, tmp_path) -> Checkpoint:
    save(small, RandomSource(small, mxfp4=True), tmp_path)
    return Checkpoint.open(tmp_path)


def hold(kept: Kept, *experts: int) -> None:
    kept.note(experts)
    kept.bring(experts)


def test_what_is_resident_is_not_read_again(kept) -> None:
    hold(kept, 0, 1, 2)
    hold(kept, 0, 1, 3)
    assert kept.counters == Counters(hits=2, misses=4, read=4 * EACH, resident=4 * EACH)


def test_the_least_asked_for_leaves(kept) -> None:
    for group in ([0, 1], [0, 1], [0, 1], [2, 3], [4]):
        hold(kept, *group)
    assert kept.resident == {0, 1, 3, 4}


def test_what_is_needed_later_leaves_last(kept) -> None:
    hold(kept, 0, 7, 8, 9)
    kept.bring([1], later=[7, 8, 9])
    assert kept.resident == {1, 7, 8, 9}
    kept.bring([2, 3], later=[7, 8, 9])
    assert kept.resident == {2, 3, 7, 8}


def test_groups_leave_room_for_what_is_there_already(kept) -> None:
    assert kept.group(range(12), 4) == [0, 1, 2, 3]
    assert kept.group(range(12), 2) == [0, 1]
    hold(kept, 1, 5)
    assert kept.group(range(12), 4) == [0, 1, 2]
    hold(kept, 1, 5, 9, 10)
    assert kept.group(range(12), 4) == [0]
    assert kept.group(range(1, 12), 4) == [1]


def test_fewer_slots_than_a_token_has_experts_are_refused(folders) -> None:
    with pytest.raises(CapacityError, match="2 slots"):
        Kept(Checkpoint.open(folders["mxfp4"]), 1, 2)


def test_what_was_read_ahead_is_a_hit(kept, pool) -> None:
    hold(kept, 0, 1, 2)
    kept.read_ahead([0, 5, 6, 7], (), 2, pool, guessed=True)
    pool.submit(int).result()
    assert kept.resident == {0, 2, 5, 6}, "in free room, then in place of the least worth"
    assert kept.counters.ahead == 2
    hold(kept, 0, 6)
    assert (kept.counters.hits, kept.counters.misses, kept.counters.used) == (2, 3, 1)
    hold(kept, 5)
    assert kept.counters.used == 1, "what the next call doesn't ask for was a wrong guess"


def test_what_was_asked_for_already_is_no_guess(kept, pool) -> None:
    kept.read_ahead([5, 6], (), 2, pool, guessed=False)
    pool.submit(int).result()
    assert kept.resident == {5, 6}
    hold(kept, 5)
    assert (kept.counters.ahead, kept.counters.used, kept.counters.hits) == (0, 0, 1)


def test_what_is_kept_is_not_read_over(kept, pool) -> None:
    hold(kept, 0, 1, 2, 3)
    kept.read_ahead([8, 9], [0, 1, 2], 4, pool, guessed=True)
    pool.submit(int).result()
    assert kept.resident == {0, 1, 2, 8}


@settings(max_examples=60, deadline=None)
@given(
    st.integers(3, 12),
    st.lists(
        st.tuples(st.sets(st.integers(0, 11), max_size=3), st.sets(st.integers(0, 11), max_size=9), st.integers(0, 9)),
        max_size=9,
    ),
)  # fmt: skip
def test_memory_is_bounded_and_what_was_brought_is_there(folders, slots: int, calls) -> None:
    from concurrent.futures import ThreadPoolExecutor

    checkpoint = Checkpoint.open(folders["mxfp4"])
    kept = Kept(checkpoint, 1, slots)
    stacks = [checkpoint.stacked(1, part) for part in names.EXPERT_PARTS]
    with ThreadPoolExecutor(1) as pool:
        for asked, likely, most in calls:
            hold(kept, *sorted(asked))
            assert asked <= kept.resident
            kept.read_ahead(sorted(likely), asked, most, pool, guessed=True)
            for part, stack in zip(kept.stacks, stacks, strict=True):
                for mine, whole in zip(part, stack, strict=True):
                    assert all(torch.equal(mine[expert], whole[expert]) for expert in asked)
        kept.settle()
    assert len(kept.resident) <= slots
    assert kept.counters.resident == len(kept.resident) * EACH


def test_a_file_cut_short_in_use_is_told(own, pool) -> None:
    kept = Kept(own, 1, 4)
    entry = own.entry(names.expert_name(1, 5, "w2") + "_packed")
    with entry.file.open("r+b") as file:
        file.truncate(entry.start + 1)
    kept.read_ahead([5], (), 4, pool, guessed=True)
    pool.submit(int).result()
    assert kept.resident == set(), "who reads ahead tells nobody"
    for _ in range(2):
        with pytest.raises(CheckpointError, match="cut short"):
            kept.bring([5])
    assert kept.resident == set()


def test_a_scale_that_makes_no_number_is_told_when_it_is_read(own) -> None:
    kept = Kept(own, 1, 4)
    entry = own.entry(names.expert_name(1, 5, "w2") + "_scale")
    with entry.file.open("r+b") as file:
        file.seek(entry.start)
        file.write(b"\xff")
    kept.bring([4])
    with pytest.raises(CheckpointError, match="expert 5: a scale of 255"):
        kept.bring([5, 6])
    assert kept.resident == {4}
    kept.bring([6])
    assert kept.resident == {4, 6}
