from __future__ import annotations

import threading
from collections import Counter, OrderedDict, namedtuple
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskagent.repair.worker.show import drained, show
from deskagent.repair.worker.variants import variants

Point = namedtuple("Point", "x y")
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner) | st.sets(st.text())
    ),
    max_leaves=12,
)


class Colour(Enum):
    RED = 1
    BLUE = 2


@dataclass
class Entry:
    text: str
    amounts: list[int]


class Slotted:
    __slots__ = ("empty", "value")

    def __init__(self) -> None:
        self.value = 3


class Proxy:
    def __getattribute__(self, name: str) -> object:
        raise RuntimeError(name)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({2, 1, 3}, "{1, 2, 3}"),
        (set(), "set({})"),
        (frozenset("a"), "frozenset({'a'})"),
        ((1,), "(1,)"),
        (Entry("a", [1]), "Entry(amounts=[1], text='a')"),
        (Slotted(), "Slotted(value=3)"),
        (Decimal("1.5"), "Decimal('1.5')"),
        (Counter("aab"), "Counter({'a': 2, 'b': 1})"),
        (OrderedDict(a=1), "OrderedDict({'a': 1})"),
        (ValueError("no"), "ValueError('no')"),
        (len, "<function len>"),
        (Entry, "Entry"),
    ],
)
def test_shown_alike_in_every_process(value: object, text: str) -> None:
    assert show(value) == text


def test_addresses_cycles_size_and_bad_objects() -> None:
    loop: list[object] = []
    loop.append(loop)
    assert show(loop) == "[…]"
    assert " at 0x" not in show(threading.Lock()) + show(object())
    assert len(show(list(range(10**5)))) < 2000
    assert len(show("x" * 10**6)) < 1000
    assert "Proxy" in show(Proxy())
    assert show(drained(i for i in range(10**9))).startswith("yields [0, 1, 2")


@given(PLAIN)
def test_neighbours_differ_and_leave_the_value_alone(value: object) -> None:
    before = show(value)
    for other in variants(value):
        assert (type(other), show(other)) != (type(value), before) or "…" in before or isinstance(value, dict)
    assert show(value) == before


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (5, [4, 6, 0, 5.5, -5]),
        ("ab", ["", "a", "b", "AB"]),
        ([3, 1], [[], [3], [1, 3], [3, 1, 1]]),
        ({"a": 1}, [{}, {"a": 2}]),
        (True, [False]),
        (Colour.RED, [Colour.BLUE]),
        (Decimal("1"), [Decimal("2"), Decimal("1.5")]),
    ],
)
def test_neighbours(value: object, wanted: list[object]) -> None:
    found = variants(value)
    assert all(any(type(w) is type(f) and w == f for f in found) for w in wanted)


def test_neighbours_of_odd_values() -> None:
    assert variants(None) == []
    assert variants(float("inf")) == [] or all(isinstance(v, float) for v in variants(float("inf")))
    assert variants(Point(1, 2)) is not None
    assert any(show(other) == "Entry(amounts=[], text='')" for other in variants(Entry("a", [])))
