from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskagent.repo.graph import pagerank
from deskagent.repo.index import Index, open_index
from deskagent.repo.repomap import tokens

EDGES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.floats(0.01, 100)), max_size=30)


@given(EDGES, st.lists(st.floats(0, 10), min_size=6, max_size=6))
def test_ranks_sum_to_one_and_none_is_negative(edges: list, personal: list[float]) -> None:
    ranks = pagerank(6, edges, personal)
    assert sum(ranks) == pytest.approx(1.0)
    assert min(ranks) >= 0


def test_rank_goes_to_what_others_lead_to_and_to_what_is_of_interest() -> None:
    edges = [(0, 2, 1.0), (1, 2, 1.0), (3, 2, 1.0), (2, 0, 1.0)]
    ranks = pagerank(4, edges)
    assert max(range(4), key=ranks.__getitem__) == 2
    assert pagerank(4, edges, [0, 1, 0, 0])[1] > ranks[1]
    # By hand, for two nodes that lead to each other with a walk that starts at the first: 1 / 1.85.
    assert pagerank(2, [(0, 1, 1.0), (1, 0, 1.0)], [1.0, 0.0])[0] == pytest.approx(1 / 1.85, abs=0.02)
    assert pagerank(0, []) == []


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    (tmp_path / "base.py").write_text(
        "class Registry:\n    def lookup_entry(self, key: str) -> int:\n        return 1\n\n\ndef unused(): pass\n"
    )
    for number in range(8):
        (tmp_path / f"user{number}.py").write_text(
            f"from base import Registry\n\n\ndef work{number}():\n    return Registry().lookup_entry('x')\n"
        )
    (tmp_path / "corner.py").write_text("def forgotten_corner(): pass\n")
    with open_index(tmp_path) as opened:
        opened.refresh()
        yield opened


def test_the_map_starts_with_what_the_rest_leans_on(index: Index) -> None:
    text = index.map(60)
    assert text.startswith(
        "base.py:\n    1 class Registry\n    2   def lookup_entry(self, key: str) -> int\n"
    )
    assert tokens(text) <= 60


@given(st.integers(1, 400))
def test_the_map_fits_any_budget(budget: int) -> None:
    assert _INDEX is not None
    assert tokens(_INDEX.map(budget)) <= budget


_INDEX: Index | None = None


@pytest.fixture(autouse=True)
def _shared(index: Index) -> Iterator[None]:
    global _INDEX
    _INDEX = index
    yield
    _INDEX = None


def test_focus_brings_a_name_or_a_file_to_the_front(index: Index) -> None:
    assert "forgotten_corner" not in index.map(30)
    assert index.map(30, ["forgotten_corner"]).startswith("corner.py")
    assert "forgotten_corner" in index.map(30, ["corner.py"])


def test_the_same_question_has_the_same_answer(index: Index) -> None:
    assert index.map(200) == index.map(200)
