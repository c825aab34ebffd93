"""The vocabulary: bytes-complete, safe from markers, and names that are the same tokens everywhere."""

from __future__ import annotations

import pytest

pytest.importorskip("tokenizers")

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.tokenizer import Tokenizer, load
from engine.train import vocabulary

CODE = "def first(self, value):\n    if value <= 3:\n        return self.name\n    return other(value, name)\n\n\n"


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory) -> Tokenizer:
    folder = tmp_path_factory.mktemp("vocabulary")
    whole = vocabulary.train([CODE * 40, *vocabulary.format_texts()], 1024)
    (folder / "tokenizer.json").write_text(whole, "utf-8")
    return load(folder)


@settings(deadline=None, max_examples=300)
@given(st.text())
def test_any_text_comes_back(tokenizer, text) -> None:
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert not any(map(tokenizer.is_marker, ids))


@settings(deadline=None, max_examples=100)
@given(st.text(alphabet="ab1 \n\t-+|.,()=<_é"))
def test_any_text_of_code_letters_comes_back(tokenizer, text) -> None:
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_markers_have_the_first_ids_and_no_text_becomes_one(tokenizer) -> None:
    assert [tokenizer.marker(name) for name in vocabulary.MARKERS] == list(range(16))
    for name in vocabulary.MARKERS:
        assert not any(map(tokenizer.is_marker, tokenizer.encode(f"a{name}b")))


def test_every_byte_is_written(tokenizer) -> None:
    known = {tokenizer.token_bytes(token) for token in range(tokenizer.size)}
    assert {bytes([byte]) for byte in range(256)} <= known


def test_a_name_is_the_same_tokens_wherever_it_stands(tokenizer) -> None:
    own = tokenizer.encode("zyx_w")
    for before in ("(", "return ", "x = ", "f(a, ", "-", "self.", "not ", "    "):
        assert tokenizer.encode(before + "zyx_w")[-len(own) :] == own, before


def test_numbers_and_signs_of_edits_are_tokens_of_their_own(tokenizer) -> None:
    for number in range(100):
        assert len(tokenizer.encode(str(number))) == 1
    (minus,), (plus,) = tokenizer.encode("-"), tokenizer.encode("+")
    ids = tokenizer.encode("12\n-==\n+!=\n")
    assert minus in ids and plus in ids
    assert tokenizer.encode("7|(x)")[:2] == [*tokenizer.encode("7"), *tokenizer.encode("|")]


def test_indentation_is_one_token(tokenizer) -> None:
    assert len(tokenizer.encode("        ")) == 1


def test_its_size_is_bounded(tokenizer) -> None:
    assert tokenizer.size <= 1024
