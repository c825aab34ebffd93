"""The prefix cache: what it gives is what computing would give, from every tier, and nothing damaged ever."""

from __future__ import annotations

import random

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from engine.api import Caches, Engine  # noqa: E402
from engine.generate.sample import Sampling  # noqa: E402
from engine.generate.sequence import Request  # noqa: E402

SYSTEM = [(3 * n * n + n) % 96 for n in range(37)]
TURN = [(7 * n * n + 5) % 96 for n in range(21)]
DRAWN = Sampling(temperature=0.7, seed=11, logprobs=0)


def told(engine, prompt, count=5, **options):
    """Tokens, their log-probabilities, and how much of the prompt was known."""
    *pieces, finish = list(engine.generate(Request(prompt, DRAWN, count, frozenset(), **options)))
    return [piece.token for piece in pieces], [piece.logprob.token for piece in pieces], finish.usage.cached


def assert_same(one, two) -> None:
    assert one[0] == two[0]
    torch.testing.assert_close(torch.tensor(one[1]), torch.tensor(two[1]), rtol=1e-4, atol=1e-4)


def test_a_second_turn_goes_on_where_the_first_ended(engine) -> None:
    made = engine(ram=1 << 22)
    first = told(made, SYSTEM)
    assert first[2] == 0
    second = [*SYSTEM, *first[0], *TURN]
    answer = told(made, second)
    assert answer[2] == len(SYSTEM) + 4, "all but the last token of the answer, which was never computed"
    assert_same(answer, told(engine(), second))


def test_the_same_prompt_again_computes_one_token(engine) -> None:
    made = engine(ram=1 << 22)
    first = told(made, SYSTEM)
    again = told(made, SYSTEM)
    assert again[2] == len(SYSTEM) - 1
    assert_same(again, first)


def test_marks_and_forks_are_kept(engine) -> None:
    made = engine(ram=1 << 22)
    told(made, [*SYSTEM, *TURN], marks=(30,))
    assert told(made, [*SYSTEM[:33], 1, 2, 3])[2] == 30, "the mark before they part"
    assert told(made, [*SYSTEM[:33], 4, 5, 6])[2] == 33, "where the second one parted"


def test_regular_snapshots_in_long_prompts(engine) -> None:
    made = engine(ram=1 << 24, page=2, pages=256)
    step = made.prefix.interval
    prompt = [(n * n) % 96 for n in range(3 * step + 5)]
    told(made, prompt)
    assert told(made, [*prompt[: 2 * step + 1], 3, 3])[2] == 2 * step


def test_uncached_requests_neither_read_nor_write(engine) -> None:
    made = engine(ram=1 << 22)
    told(made, SYSTEM, cached=False)
    assert made.prefix.count == 0
    told(made, SYSTEM)
    assert told(made, SYSTEM, cached=False)[2] == 0


def test_images_of_other_content_are_not_taken_for_each_other(engine, tiny) -> None:
    image = torch.randn(8, tiny.config.hidden, generator=torch.Generator().manual_seed(2))
    made = engine(ram=1 << 22)
    first = told(made, SYSTEM, images=((4, image),))
    other = told(made, SYSTEM, images=((4, -image),))
    assert other[2] <= 4
    assert_same(other, told(engine(), SYSTEM, images=((4, -image),)))
    again = told(made, SYSTEM, images=((4, image),))
    assert again[2] == len(SYSTEM) - 1
    assert_same(again, first)


STEPS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 37), st.integers(0, 3), st.integers(1, 4)),
    min_size=2,
    max_size=6,
)


@settings(max_examples=8, deadline=None)
@given(
    steps=STEPS,
    pages=st.sampled_from([14, 64]),
    ram=st.sampled_from([9_000, 40_000, 1 << 22]),
    disk=st.booleans(),
)
def test_whatever_is_kept_answers_are_fresh_ones(tiny, tmp_path_factory, steps, pages, ram, disk) -> None:
    """Prompts with common beginnings, pools and budgets so small that entries move, or go, all the time."""
    folder = tmp_path_factory.mktemp("prefix")
    sizes = {"pages": pages, "page": 8, "slots": 2}
    made = Engine(tiny, Caches(**sizes, ram=ram, folder=folder, disk=150_000 if disk else 0))
    for base, cut, tail, count in steps:
        prompt = [base, *SYSTEM[:cut], *[tail] * tail, 5]
        fresh = Engine(tiny, Caches(**sizes, ram=0))
        assert_same(told(made, prompt, count), told(fresh, prompt, count))
        prefix = made.prefix
        assert prefix.ram == sum(entry.ram for entry in prefix._entries) <= ram
        assert prefix.disk == sum(path.stat().st_size for path in folder.iterdir())
        assert prefix.disk <= 150_000
    made.prefix.clear()
    assert (made.memory.free_pages, made.memory.free_slots) == (pages, 2)


def test_pages_come_back_from_main_memory(engine) -> None:
    """A pool with room for one text: the other's pages were copied out, and are copied in again."""
    made = engine(pages=12, ram=1 << 22)
    texts = [[number, *SYSTEM, *TURN] for number in range(3)]
    first = [told(made, text) for text in texts]
    again = [told(made, text) for text in texts]
    for one, two in zip(first, again, strict=True):
        assert two[2] == len(SYSTEM) + len(TURN)
        assert_same(one, two)


def durable(tiny, folder, **sizes) -> Engine:
    return Engine(
        tiny, Caches(**({"pages": 32, "page": 8, "ram": 1 << 22, "disk": 1 << 22} | sizes), folder=folder)
    )


def test_a_new_process_goes_on_from_disk(tiny, tmp_path) -> None:
    folder = tmp_path / "made"
    made = durable(tiny, folder)
    first = told(made, SYSTEM)
    made.close()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    prompt = [*SYSTEM, *first[0], *TURN]
    answer = told(durable(tiny, folder), prompt)
    assert answer[2] == len(SYSTEM) + 4
    assert_same(answer, told(Engine(tiny, Caches(pages=32, page=8, ram=0)), prompt))


@pytest.mark.parametrize("harm", ["cut", "flip", "flip header", "rubbish", "empty", "gone", "renamed"])
def test_damaged_files_are_dropped_and_the_answer_stays_right(tiny, tmp_path, harm) -> None:
    made = durable(tiny, tmp_path)
    first = told(made, SYSTEM)
    made.close()
    files = sorted(tmp_path.iterdir())
    assert len(files) == 2
    opened = durable(tiny, tmp_path) if harm == "gone" else None
    for path in files:
        data = bytearray(path.read_bytes())
        if harm == "cut":
            path.write_bytes(data[:-3])
        elif harm == "flip":
            data[-9] ^= 4
            path.write_bytes(data)
        elif harm == "flip header":
            data[60] ^= 1
            path.write_bytes(data)
        elif harm == "rubbish":
            path.write_bytes(random.Random(1).randbytes(5000))
        elif harm == "empty":
            path.write_bytes(b"")
        elif harm == "gone":
            path.unlink()
        else:
            path.rename(path.with_name("0" * 40 + ".prefix"))
    opened = opened or durable(tiny, tmp_path)
    again = told(opened, SYSTEM)
    assert again[2] == 0
    assert_same(again, first)
    assert not any(path in files for path in tmp_path.iterdir())


def test_other_weights_and_other_files_are_left_alone(tiny, tmp_path, runners) -> None:
    made = durable(tiny, tmp_path)
    told(made, SYSTEM)
    made.close()
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "half.prefix.tmp").write_text("left over")
    before = {path.name for path in tmp_path.iterdir()}
    other = Engine(runners["k3.1"].model, Caches(pages=32, page=8, folder=tmp_path, disk=1 << 22))
    assert other.prefix.count == 0
    other.close()
    assert {path.name for path in tmp_path.iterdir()} == before - {"half.prefix.tmp"}
    assert durable(tiny, tmp_path, page=4).prefix.count == 0, "pages of another size"


def test_a_full_disk_costs_nothing_but_time(tiny, tmp_path, monkeypatch) -> None:
    made = durable(tiny, tmp_path, pages=12, ram=9_000)
    first = told(made, SYSTEM)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(made.prefix.folder, "write", full)
    for number in range(3):
        told(made, [number, *SYSTEM])
    assert_same(told(made, SYSTEM), first)
    made.close()
