from __future__ import annotations

import pytest

pytest.importorskip("numpy")

from engine.train.corpus.files import Document
from engine.train.corpus.near import distinct


def document(name: str, lines: list[str]) -> Document:
    return Document("a", name, "python", "\n".join(lines))


LINES = [f"value_{n} = call_{n}(other_{n * 7 % 13})" for n in range(100)]


def test_a_copy_with_a_few_changes_is_dropped() -> None:
    changed = [*LINES]
    for at in range(0, 100, 20):
        changed[at] = f"changed = {at}"
    kept = [d.path for d in distinct([document("one", LINES), document("copy", changed)])]
    assert kept == ["one"]


def test_another_indentation_is_a_copy_too() -> None:
    kept = [d.path for d in distinct([document("one", LINES), document("two", ["    " + x for x in LINES])])]
    assert kept == ["one"]


def test_documents_that_share_less_than_half_stay() -> None:
    other = [*LINES[:40], *(f"def name_{n}(): return {n}" for n in range(60))]
    kept = [d.path for d in distinct([document("one", LINES), document("two", other)])]
    assert kept == ["one", "two"]


def test_short_ones_are_dropped_where_they_are_equal_alone() -> None:
    three = [document("a", ["x = 1"]), document("b", ["x = 1"]), document("c", ["x = 1", "y = 2"])]
    assert [d.path for d in distinct(three)] == ["a", "c"]


def test_nothing_is_a_copy_of_nothing() -> None:
    assert [d.path for d in distinct([document("a", []), document("b", ["", "  "])])] == ["a"]
