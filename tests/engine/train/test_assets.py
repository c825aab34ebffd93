"""The corpus and the vocabulary that lie in the repository."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("tokenizers")

from engine.tokenizer import load
from engine.train import shards
from engine.train.corpus import lock
from engine.train.corpus.excluded import copied, excluded
from engine.train.vocabulary import MARKERS, SIZE, bytes_per_token

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "assets" / "train"


@pytest.fixture(scope="module")
def held():
    return shards.read(FOLDER, "held")


def test_the_vocabulary_is_whole_and_writes_held_out_code_shortly(held) -> None:
    tokenizer = load(FOLDER)
    assert tokenizer.size == SIZE and [tokenizer.marker(name) for name in MARKERS] == list(range(16))
    texts = [document.text for document in held if document.language == "python"][::8]
    assert bytes_per_token(tokenizer, texts) > 3.5
    for text in texts[::4]:
        assert tokenizer.decode(tokenizer.encode(text)) == text


def test_numbers_of_lines_are_single_tokens() -> None:
    tokenizer = load(FOLDER)
    assert all(len(tokenizer.encode(str(number))) == 1 for number in range(100))


def test_nothing_measured_on_is_learnt_from(held) -> None:
    packages = lock.read(ROOT / "engine" / "train" / "corpus.lock")
    assert packages and not [package.name for package in packages if excluded(package.name)]
    assert {document.package for document in held} <= {p.name for p in packages if p.use == "held"}
    assert not [document.path for document in held if copied(document.path)]
