"""The radix tree against a plain dict."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.cache.radix import Radix, shared

KEYS = st.lists(st.integers(0, 2), max_size=7).map(tuple)


@given(steps=st.lists(st.tuples(st.booleans(), KEYS), max_size=40), asked=st.lists(KEYS, max_size=5))
def test_a_tree_answers_as_a_dict(steps, asked) -> None:
    tree: Radix[int] = Radix()
    plain: dict[tuple[int, ...], int] = {}
    for number, (add, key) in enumerate(steps):
        if add:
            tree.set(key, number)
            plain[key] = number
        elif key in plain:
            tree.remove(key)
            del plain[key]
        else:
            with pytest.raises(KeyError):
                tree.remove(key)
    for key in [*asked, *plain]:
        assert tree.get(key) == plain.get(key)
        begins = [(n, plain[key[:n]]) for n in range(len(key) + 1) if key[:n] in plain]
        assert list(tree.path(key)) == begins
        most = max((n for n in range(len(key) + 1) if any(k[:n] == key[:n] for k in plain)), default=0)
        assert tree.known(key) == most


@given(edge=st.lists(st.integers(0, 1), max_size=20), key=st.lists(st.integers(0, 1), max_size=20))
def test_shared_beginnings(edge, key) -> None:
    same = [a == b for a, b in zip(edge, key, strict=False)]
    expected = same.index(False) if False in same else len(same)
    assert shared(edge, [7, 7, 7, *key], 3) == expected
