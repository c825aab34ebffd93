from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from deskagent.repair.regress.ddmin import minimise


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 24), st.data())
def test_a_monotone_property_gives_exactly_what_is_needed(size: int, data: st.DataObject) -> None:
    needed = frozenset(data.draw(st.sets(st.integers(0, size - 1), min_size=1)))
    found = minimise(range(size), lambda part: needed <= set(part))
    assert found.items == tuple(sorted(needed)) and found.minimal


@settings(max_examples=200, deadline=None)
@given(st.integers(2, 7), st.data())
def test_any_property_gives_something_of_which_nothing_can_be_left_out(
    size: int, data: st.DataObject
) -> None:
    subsets = [part for n in range(1, size) for part in combinations(range(size), n)]
    good = data.draw(st.sets(st.sampled_from(subsets)))
    asked: list[tuple[int, ...]] = []

    def works(part: tuple[int, ...]) -> bool:
        asked.append(part)
        return part in good or len(part) == size

    found = minimise(range(size), works)
    assert works(found.items) and found.minimal
    for gone in found.items if len(found.items) > 1 else ():
        assert not works(tuple(item for item in found.items if item != gone))
    del asked[-len(found.items) - 1 :]
    assert all(0 < len(part) < size for part in asked)


@given(st.integers(2, 40), st.integers(0, 60))
def test_nothing_is_asked_twice_and_a_stop_leaves_what_works(size: int, patience: int) -> None:
    asked: list[tuple[int, ...]] = []

    def works(part: tuple[int, ...]) -> bool:
        asked.append(part)
        return {0, size - 1} <= set(part)

    found = minimise(range(size), works, stop=lambda: len(asked) >= patience)
    assert len(asked) == len(set(asked)) <= patience
    assert {0, size - 1} <= set(found.items)
    assert found.minimal or len(asked) == patience


def test_few_questions_for_one_of_many() -> None:
    asked = []
    found = minimise(range(256), lambda part: bool(asked.append(part)) or 77 in part)
    assert found.items == (77,) and len(asked) <= 2 * 8


def test_equal_items_are_told_apart() -> None:
    assert minimise("aab", lambda part: part.count("a") == 2).items == ("a", "a")
    assert minimise((), lambda part: False).items == ()
