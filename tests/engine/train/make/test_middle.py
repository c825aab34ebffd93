from __future__ import annotations

from random import Random

import pytest

from engine.prompt.render import Marker
from engine.train.corpus.files import Document
from engine.train.library import Library
from engine.train.make import middle

TEXT = "".join(
    f"def f{n}(first, second):\n    if first > {n}:\n        return second\n    return first_{n}\n\n\n"
    for n in range(30)
)
FILE = Document("p", "p/a.py", "python", TEXT)
LIBRARY = Library([FILE], 300)


def test_the_three_parts_stand_together_in_the_file() -> None:
    made = 0
    for seed in range(200):
        example = middle.fim(LIBRARY, FILE, Random(seed))
        if example is None:
            continue
        made += 1
        before, after, between = (str(example[at].segment) for at in (3, 10, 17))
        assert before + between + after in TEXT
        assert example[-1].segment is Marker.END and example[-1].learn
        assert len(before + between + after) <= LIBRARY.letters
    assert made > 120


@pytest.mark.parametrize("level", [middle.lines, middle.span, middle.block])
@pytest.mark.parametrize("text", ["x", "\n", "a\n\n  b", "word", TEXT])
def test_any_text_has_middles(level, text) -> None:
    for seed in range(50):
        start, end = level(text, Random(seed))
        assert 0 <= start <= end <= len(text)


def test_spans_keep_words_whole() -> None:
    for seed in range(100):
        start, end = middle.span("value_one = other_two(third)", Random(seed))
        assert "value_one = other_two(third)"[start:end].strip("(=) ") in (
            "", "value_one", "other_two", "third", "value_one = other_two", "other_two(third",
            "value_one = other_two(third",
        )  # fmt: skip


def test_blocks_hold_what_is_indented_below() -> None:
    text = "if a:\n    b\n\n    c\nelse:\n    d\n"
    found = {text[slice(*middle.block(text, Random(seed)))] for seed in range(60)}
    assert "if a:\n    b\n\n    c\n" in found and "else:\n    d\n" in found
