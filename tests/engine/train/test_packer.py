"""Packing: full batches, the same for the same number, and none that can't be learnt from."""

from __future__ import annotations

from random import Random

import pytest

pytest.importorskip("numpy")

from engine.errors import ConfigError
from engine.prompt.render import Marker
from engine.tokenizer import Tokenizer
from engine.train.corpus.files import Document
from engine.train.example import Example, Piece
from engine.train.library import Library
from engine.train.packer import Packer

LETTERS = Tokenizer(
    lambda text: [min(ord(letter), 127) for letter in text],
    {n: bytes([n]) for n in range(128)},
    {marker.value: 128 + at for at, marker in enumerate(Marker)},
)
LIBRARY = Library(
    [Document("a", "a.py", "python", "x" * 500), Document("b", "b.py", "python", "y" * 500)], 64
)


def lm(document: Document, random: Random) -> Example:
    return [Piece(Marker.OPEN, False), Piece(document.text[: random.randrange(40, 300)], True)]


def bug(document: Document, random: Random) -> Example:
    return [Piece("q" * random.randrange(10, 80), False), Piece("a", True)]


def nothing(document: Document, random: Random) -> None:
    return None


def packer(makers, weights=None, seed="0") -> Packer:
    weights = weights or dict.fromkeys(makers, 1.0)
    return Packer(LIBRARY, LETTERS, makers, weights, 64, 300, seed)


def test_batches_are_full_and_sequences_bounded() -> None:
    mixed, number = packer({"lm": lm, "bug": bug}), 0
    for _ in range(50):
        batch = mixed.batch(number)
        lengths = batch.starts[1:] - batch.starts[:-1]
        assert 300 - 32 < len(batch.tokens) == len(batch.learn) == batch.starts[-1] <= 300
        assert len(batch.kinds) == len(lengths) and min(lengths) > 0 and max(lengths) <= 64
        assert batch.following > number
        number = batch.following


def test_what_is_learnt_is_what_the_pieces_say() -> None:
    batch = packer({"bug": bug}).batch(0)
    for first, last in zip(batch.starts, batch.starts[1:], strict=False):
        assert bytes(batch.tokens[first:last].tolist()).decode().strip("q") == "a"
        assert batch.learn[first:last].tolist() == [False] * (last - first - 1) + [True]


def test_no_answer_is_cut_off() -> None:
    mixed, number = packer({"lm": lm, "bug": bug}), 0
    for _ in range(30):
        batch = mixed.batch(number)
        number = batch.following
        ends = [
            batch.learn[last - 1]
            for last, kind in zip(batch.starts[1:], batch.kinds, strict=True)
            if kind == "bug"
        ]
        assert all(ends)


def test_a_number_gives_the_same_batch_and_another_seed_does_not() -> None:
    one, two, other = (packer({"lm": lm, "bug": bug}, seed=seed) for seed in ("0", "0", "1"))
    one.batch(0)
    assert one.batch(17).tokens.tolist() == two.batch(17).tokens.tolist()
    assert two.batch(17).tokens.tolist() != other.batch(17).tokens.tolist()


def test_batches_go_through_all_examples() -> None:
    mixed = packer({"bug": bug})
    first = mixed.batch(0)
    lengths = [len(made.tokens) for number in range(first.following) if (made := mixed.sequence(number))]
    assert lengths == (first.starts[1:] - first.starts[:-1]).tolist()


def test_weights_are_shares_of_examples() -> None:
    mixed = packer({"lm": lm, "bug": bug}, {"lm": 1, "bug": 3})
    kinds = [made.kind for number in range(400) if (made := mixed.sequence(number))]
    assert 0.55 < kinds.count("bug") / len(kinds) < 0.9


def test_nothing_to_make_is_told() -> None:
    with pytest.raises(ConfigError, match="none"):
        packer({"none": nothing}).batch(0)


def test_makers_that_make_nothing_are_passed_over() -> None:
    mixed = packer({"lm": lm, "none": nothing})
    batch = mixed.batch(0)
    assert set(batch.kinds) == {"lm"} and len(batch.tokens) == 300
