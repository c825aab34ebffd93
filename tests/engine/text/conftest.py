"""Small vocabularies, trained on the spot and written as the public files are."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

pytest.importorskip("torch")
tokenizers = pytest.importorskip("tokenizers")

MARKERS = [
    "[BOS]",
    "[EOS]",
    "<|open|>",
    "<|close|>",
    "<|sep|>",
    "<|end_of_msg|>",
    "<|kimi_image_placeholder|>",
]
TEXTS = [
    'def greet(name: str) -> None:\n    print(f"hello, {name}")\n', "The quick brown fox's jumping over it 1234567",
    '<|open|>message role="user"<|sep|>hello<|close|>message<|sep|><|end_of_msg|>', "漢字とかなのテスト 한국어 привет",
] * 3  # fmt: skip


@pytest.fixture(scope="session")
def json_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint folder with a tokenizer.json."""
    from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers, trainers

    built = Tokenizer(models.BPE())
    built.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    built.train_from_iterator(
        TEXTS, trainers.BpeTrainer(vocab_size=500, initial_alphabet=alphabet, special_tokens=MARKERS)
    )
    built.add_tokens([AddedToken("<think>", special=False)])
    built.enable_truncation(5)
    folder = tmp_path_factory.mktemp("json")
    built.save(str(folder / "tokenizer.json"))
    return folder


@pytest.fixture(scope="session")
def ranks() -> dict[bytes, int]:
    """Words with several ways to merge them, so that the order matters."""
    words = [bytes([byte]) for byte in range(256)]
    joined = "ab bc abc aa aaa aaaa ss ess t th the he in ing def ret urn hel lo op en open <| |> é 漢"
    words += [word.encode() for word in joined.split()]
    words += [b"  ", b" t", b" the", "漢".encode()[:2]]
    return {word: rank for rank, word in enumerate(dict.fromkeys(words))}


@pytest.fixture(scope="session")
def tiktoken_folder(tmp_path_factory: pytest.TempPathFactory, ranks: dict[bytes, int]) -> Path:
    folder = tmp_path_factory.mktemp("tiktoken")
    lines = [base64.b64encode(word) + b" %d" % rank for word, rank in ranks.items()]
    (folder / "tiktoken.model").write_bytes(b"\n".join(lines) + b"\n")
    added = {str(len(ranks) + at): {"content": name, "special": True} for at, name in enumerate(MARKERS)}
    (folder / "tokenizer_config.json").write_text(json.dumps({"added_tokens_decoder": added}))
    return folder


@pytest.fixture(scope="session", params=["json", "tiktoken"])
def tokenizer(request: pytest.FixtureRequest, json_folder: Path, tiktoken_folder: Path):
    from engine.tokenizer import load

    return load({"json": json_folder, "tiktoken": tiktoken_folder}[request.param])


@pytest.fixture(scope="session")
def marker_names() -> list[str]:
    return MARKERS
