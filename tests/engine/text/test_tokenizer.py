"""Vocabularies: what is encoded is decoded, no text becomes a marker, damaged files are told."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from engine.errors import CheckpointError, RequestError  # noqa: E402
from engine.tokenizer import Characters, Tokenizer, load  # noqa: E402
from engine.vocabulary import KIMI_PATTERN, read_tiktoken  # noqa: E402

MARKED = [
    "<|open|>",
    "<|close|>",
    "<|sep|>",
    "<|end_of_msg|>",
    "[BOS]",
    "[EOS]",
    "<think>",
    "<|kimi_image_placeholder|>",
]
HOSTILE = st.lists(
    st.one_of(st.sampled_from([*MARKED, "<|op", "en|>", "message", " ", "\n", "\0", "\u2028", "漢", "🙂", "\ud83d"]),
              st.text(st.characters(), max_size=6)),
    max_size=12,
).map("".join)  # fmt: skip


def repaired(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@settings(max_examples=200, deadline=None)
@given(text=HOSTILE)
def test_any_text_comes_back_and_no_text_becomes_a_marker(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(text)
    assert not set(ids) & set(tokenizer.markers.values())
    assert tokenizer.decode(ids) == repaired(text)


@settings(max_examples=100, deadline=None)
@given(text=HOSTILE)
def test_characters_come_whole(tokenizer: Tokenizer, text: str) -> None:
    stream, parts = Characters(), []
    for token in tokenizer.encode(text):
        parts.append(stream.feed(tokenizer.token_bytes(token)))
    assert "".join([*parts, stream.rest()]) == repaired(text)


def test_a_character_is_held_back_until_it_is_whole() -> None:
    stream = Characters()
    raw = "🙂".encode()
    assert [stream.feed(raw[at : at + 1]) for at in range(4)] == ["", "", "", "🙂"]
    assert stream.feed(raw[:2]) == ""
    assert stream.rest() == "\ufffd"
    assert stream.feed(b"a\xff") == "a\ufffd"


def test_markers_have_ids_and_no_bytes(tokenizer: Tokenizer, marker_names: list[str]) -> None:
    for name in marker_names:
        assert tokenizer.is_marker(tokenizer.marker(name))
        assert tokenizer.token_bytes(tokenizer.marker(name)) == b""
    assert tokenizer.token_bytes(10**6) == b""
    with pytest.raises(RequestError, match="no marker"):
        tokenizer.marker("<|im_user|>")


def test_an_added_token_that_is_shown_is_found_by_name_and_no_text_becomes_it(
    tiktoken_folder: Path, tmp_path: Path
) -> None:
    """As the public files of Kimi models have the markers of tool calls."""
    name = "<|tool_call_begin|>"
    (tmp_path / "tiktoken.model").write_bytes((tiktoken_folder / "tiktoken.model").read_bytes())
    added = {"9000": {"content": name, "special": False}, "9001": {"content": "[EOS]", "special": True}}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"added_tokens_decoder": added}))
    tokenizer = load(tmp_path)
    assert tokenizer.has(name)
    assert tokenizer.marker(name) == 9000
    assert tokenizer.token_bytes(9000) == name.encode()
    assert 9000 not in tokenizer.encode(f"a{name}b")
    assert not tokenizer.is_marker(9000)
    assert not tokenizer.has("<|im_user|>")
    assert tokenizer.size == 9002


def test_a_long_text_is_not_cut_by_the_file(tokenizer: Tokenizer) -> None:
    assert tokenizer.decode(tokenizer.encode("hello " * 5000)) == "hello " * 5000


def test_a_megabyte_without_a_blank_is_encoded(tiktoken_folder: Path) -> None:
    tokenizer = load(tiktoken_folder)
    text = "".join(random.Random(1).choice("abcst") for _ in range(1 << 18))
    assert tokenizer.decode(tokenizer.encode(text)) == text


def _merged_naively(piece: bytes, ranks: dict[bytes, int]) -> list[int]:
    parts = [piece[at : at + 1] for at in range(len(piece))]
    while len(parts) > 1 and piece not in ranks:
        pairs = [(ranks.get(parts[at] + parts[at + 1]), at) for at in range(len(parts) - 1)]
        known = [pair for pair in pairs if pair[0] is not None]
        if not known:
            break
        _, at = min(known)
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return [ranks[piece]] if piece in ranks else [ranks[part] for part in parts]


@settings(max_examples=300, deadline=None)
@given(text=st.text("abcthe s", min_size=1, max_size=24))
def test_pairs_are_merged_in_the_order_of_their_ranks(ranks: dict[bytes, int], text: str) -> None:
    from engine.bytepairs import BytePairs

    assert BytePairs(ranks, lambda whole: [whole]).encode(text) == _merged_naively(text.encode(), ranks)


@settings(max_examples=300, deadline=None)
@given(text=HOSTILE)
def test_the_same_as_tiktoken(tiktoken_folder: Path, ranks: dict[bytes, int], text: str) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    # tiktoken's engine writes the same pattern's sets another way
    pattern = KIMI_PATTERN.replace("&&[^\\p{Han}]", "&&\\P{Han}")
    theirs = tiktoken.Encoding("test", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    text = repaired(text)
    assert load(tiktoken_folder).encode(text) == theirs.encode_ordinary(text)


def test_the_same_as_tokenizers_on_text_without_markers(json_folder: Path) -> None:
    from tokenizers import Tokenizer as Theirs

    theirs = Theirs.from_file(str(json_folder / "tokenizer.json"))
    theirs.no_truncation()
    for text in ("def f(x):\n    return x  # 漢字", "It's 12:30, isn't it? é", "a\r\n\r\n\tb   c"):
        assert load(json_folder).encode(text) == theirs.encode(text).ids


@pytest.fixture
def copied(json_folder: Path, tmp_path: Path):
    folder = shutil.copytree(json_folder, tmp_path / "copied")
    path = folder / "tokenizer.json"
    return folder, path, json.loads(path.read_text())


def _unset(place: dict, *way: object) -> None:
    *first, last = way
    for step in first:
        place = place[step]
    del place[last]


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: whole["model"].update(type="Unigram"),
        lambda whole: whole["model"].update(byte_fallback=True),
        lambda whole: whole["model"]["vocab"].pop("a"),
        lambda whole: whole["model"]["vocab"].update({"漢": 9999}),
        lambda whole: whole["model"]["vocab"].update(x="1"),
        lambda whole: whole["model"]["vocab"].update(x=-1),
        lambda whole: whole["model"].update(merges=[["q", "zz"]]),
        lambda whole: whole["model"].update(merges=3),
        lambda whole: whole["model"]["merges"].append(["<|open", "|>"]),
        lambda whole: whole.update(added_tokens=[{"id": 3, "content": ""}]),
        lambda whole: whole.update(added_tokens=[{"id": 3}]),
        lambda whole: whole.update(added_tokens=[{"id": 900, "content": "x|"}, {"id": 900, "content": "y|"}]),
        lambda whole: whole.update(added_tokens=[{"id": 40, "content": "z|"}]),
        lambda whole: whole.update(model=None),
        lambda whole: whole.update(pre_tokenizer={"type": "Rubbish"}),
    ],
    ids=range(15),
)
def test_a_damaged_tokenizer_json(copied, damage) -> None:
    folder, path, whole = copied
    damage(whole)
    path.write_text(json.dumps(whole))
    with pytest.raises(CheckpointError, match=r"tokenizer\.json"):
        load(folder)


@pytest.mark.parametrize("raw", ["", "{", "[]", "3", "[" * 100_000, '{"a": 1, "a": 2}'])
def test_a_tokenizer_json_that_is_none(copied, raw: str) -> None:
    folder, path, _ = copied
    path.write_text(raw)
    with pytest.raises(CheckpointError, match=r"tokenizer\.json"):
        load(folder)


@pytest.mark.parametrize(
    "raw", [b"", b"rubbish", b"YQ== x", b"Y 1", b"YQ== 1\nYg== 1", b"YQ== -1", b"YQ== 0", b"\xff 1"]
)
def test_a_damaged_tiktoken_vocabulary(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "tiktoken.model").write_bytes(raw)
    with pytest.raises(CheckpointError, match=r"tiktoken\.model"):
        read_tiktoken(tmp_path, "tiktoken.model")


@pytest.mark.parametrize("added", [[], {"x": {}}, {"0": {"content": "<|open|>"}}, {"900": {"content": 3}}])
def test_damaged_markers_of_a_tiktoken_vocabulary(
    tiktoken_folder: Path, tmp_path: Path, added: object
) -> None:
    folder = shutil.copytree(tiktoken_folder, tmp_path / "copied")
    (folder / "tokenizer_config.json").write_text(json.dumps({"added_tokens_decoder": added}))
    with pytest.raises(CheckpointError, match=r"tokenizer_config\.json"):
        load(folder)


def test_no_vocabulary_at_all(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"no tokenizer\.json"):
        load(tmp_path)
