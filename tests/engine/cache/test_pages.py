"""Pages and slots: counted, copied on writing, never lost, never given twice."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from engine.batch import Batch  # noqa: E402
from engine.cache.pages import History, Memory  # noqa: E402
from engine.errors import CapacityError  # noqa: E402
from kernels.layout import Sequences  # noqa: E402

TOKENS = [(5 * n * n + n) % 97 for n in range(40)]


@pytest.fixture
def memory(runners) -> Memory:
    return Memory(runners["k3.1"].pools(16), 16, 4)


def feed(runner, history: History, tokens: list[int]):
    history.reserve(len(tokens))
    table = torch.tensor([history.pages], dtype=torch.int32)
    length = history.length + len(tokens)
    sequences = Sequences.of([len(tokens)], [length], [history.slot], table)
    batch = Batch(torch.tensor(tokens), sequences, torch.arange(len(tokens)), length)
    logits = runner.model.forward(batch, history.memory.pools)
    history.advance(len(tokens))
    return logits


def test_a_fork_copies_only_the_partly_filled_page_and_the_state(runners, memory) -> None:
    runner = runners["k3.1"]
    one = History(memory)
    feed(runner, one, TOKENS[:36])
    assert len(one.pages) == 3
    free = memory.free_pages
    two = one.fork()
    assert (memory.free_pages, memory.free_slots) == (free, 2)
    feed(runner, two, TOKENS[36:38])
    assert memory.free_pages == free - 1
    assert two.pages[:2] == one.pages[:2]
    assert two.pages[2] != one.pages[2]
    feed(runner, one, TOKENS[36:38])
    assert memory.free_pages == free - 1, "the last holder writes into its own page"


def test_forks_answer_as_copies_do(runners, memory) -> None:
    runner = runners["k3.1"]
    base = History(memory)
    feed(runner, base, TOKENS[:30])
    fork = base.fork()
    other = feed(runner, base, TOKENS[5:12])  # the fork must not see what its origin goes on with
    mine = feed(runner, fork, TOKENS[30:37])
    for tokens, logits in ((TOKENS[:30] + TOKENS[5:12], other), (TOKENS[:37], mine)):
        alone = Memory(runner.pools(16), 16, 1)
        fresh = History(alone)
        feed(runner, fresh, tokens[:30])
        assert torch.equal(feed(runner, fresh, tokens[30:]), logits)


def test_out_of_pages_says_how_many_and_changes_nothing(memory) -> None:
    one = History(memory)
    one.reserve(100)
    with pytest.raises(CapacityError, match=r"10 pages of 16 tokens needed, 9 of 16 free"):
        one.reserve(17 * 16)
    assert (len(one.pages), memory.free_pages) == (7, 9)
    with pytest.raises(CapacityError, match="all 4 state slots"):
        [History(memory) for _ in range(4)]


def test_a_failed_fork_holds_nothing(memory) -> None:
    histories = [History(memory) for _ in range(4)]
    histories[0].reserve(20)
    histories[0].advance(20)
    with pytest.raises(CapacityError):
        histories[0].fork()
    histories[0].release()
    assert memory.free_pages == 16


def test_what_is_short_is_asked_back_first(memory) -> None:
    one, two = History(memory), History(memory)
    one.reserve(160)
    asked = []

    def reclaim(short: int) -> None:
        asked.append(short)
        one.release()

    memory.reclaim = reclaim
    two.reserve(16 * 12)
    assert asked == [6]


@settings(max_examples=60, deadline=None)
@given(steps=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 7), st.integers(1, 40)), max_size=40))
def test_every_page_has_as_many_holders_as_histories_name_it(runners, steps) -> None:
    memory = Memory(runners["k3.1"].pools(16), 16, 4)
    alive: list[History] = []
    for kind, which, tokens in steps:
        target = alive[which % len(alive)] if alive else None
        try:
            if kind == 0 or target is None:
                alive.append(History(memory))
            elif kind == 1:
                target.reserve(tokens)
                target.advance(tokens)
            elif kind == 2:
                alive.append(target.fork())
            elif kind == 3:
                target.length = min(target.length, tokens)
                target.trim()
            else:
                target.release()
                alive.remove(target)
        except CapacityError:
            pass
        held = [page for history in alive for page in history.pages]
        assert memory.holders == [held.count(page) for page in range(16)]
        assert memory.free_pages == sum(count == 0 for count in memory.holders)
        assert memory.free_slots == 4 - len(alive)
    for history in alive:
        history.release()
        history.release()
    assert (memory.free_pages, memory.free_slots) == (16, 4)
