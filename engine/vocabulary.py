"""Vocabulary files: tokenizer.json with a byte-level BPE, and tiktoken's ranks. Nothing of a checkpoint is run."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.bytepairs import BytePairs
from engine.errors import CheckpointError
from engine.tokenizer import Tokenizer
from engine.weights.files import inside, read_json

LARGEST = 256 << 20
"""Bytes of a vocabulary file."""
_LETTERS = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]"
_ENDING = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
KIMI_PATTERN = "|".join(
    (
        r"[\p{Han}]+",
        rf"[^\r\n\p{{L}}\p{{N}}]?{_LETTERS[0]}*{_LETTERS[1]}+{_ENDING}",
        rf"[^\r\n\p{{L}}\p{{N}}]?{_LETTERS[0]}+{_LETTERS[1]}*{_ENDING}",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)
"""How the vocabularies of Kimi models cut a text before pairs are merged; their files don't say it."""


def read_json_bpe(folder: Path) -> Tokenizer:
    """tokenizer.json of the `tokenizers` package: a byte-level BPE. Errors: CheckpointError.

    Its added tokens are taken out before it is built, since that package finds them in any text.
    """
    import tokenizers

    path = folder / "tokenizer.json"
    whole = read_json(folder, path.name, LARGEST)
    model = whole.get("model") if isinstance(whole, dict) else None
    if not isinstance(model, dict) or model.get("type", "BPE") != "BPE" or model.get("byte_fallback"):
        raise CheckpointError(f"{path}: no byte-level BPE; other kinds of vocabularies are not read")
    vocabulary, merges = model.get("vocab"), model.get("merges")
    if (
        not isinstance(vocabulary, dict)
        or not isinstance(merges, list)
        or not all(map(_is_id, vocabulary.values()))
    ):
        raise CheckpointError(f"{path}: no vocab and merges in it")
    added = _added(whole.get("added_tokens") or [], path)
    made = {_joined(merge) for merge in merges}
    for name, (token, _) in added.items():
        if name in made or vocabulary.get(name, token) != token:
            raise CheckpointError(
                f"{path}: text could become the marker {name}; this vocabulary is not safe to use"
            )
        vocabulary.pop(name, None)
    taken = {token for token, _ in added.values()} & set(vocabulary.values())
    if taken:
        raise CheckpointError(f"{path}: id {min(taken)} is a marker and text")
    words = {token: _bytes_of(word, path) for word, token in vocabulary.items()}
    _all_bytes(set(words.values()), path)
    model["unk_token"] = None
    whole |= {"added_tokens": [], "post_processor": None, "truncation": None, "padding": None}
    try:
        built = tokenizers.Tokenizer.from_str(json.dumps(whole))
    except Exception as error:  # the package raises nothing narrower
        raise CheckpointError(f"{path}: {error}") from error
    return Tokenizer(
        lambda text: built.encode(text, add_special_tokens=False).ids,
        words,
        {name: token for name, (token, special) in added.items() if special},
        {name: token for name, (token, special) in added.items() if not special},
    )


def read_tiktoken(folder: Path, name: str, pattern: str = KIMI_PATTERN) -> Tokenizer:
    """tiktoken's file of ranks, a base64 word and its id a line; markers are in tokenizer_config.json. Errors:
    CheckpointError."""
    path = inside(folder, name)
    ranks: dict[bytes, int] = {}
    if path.stat().st_size > LARGEST:
        raise CheckpointError(f"{path}: over {LARGEST} bytes")
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        if not line.strip():
            continue
        try:
            word, rank = line.split()
            ranks[base64.b64decode(word, validate=True)] = int(rank)
        except (ValueError, binascii.Error) as error:
            raise CheckpointError(f"{path}: line {number} is no word and rank") from error
    if len(set(ranks.values())) != len(ranks) or min(ranks.values(), default=0) < 0:
        raise CheckpointError(f"{path}: two words have one rank")
    _all_bytes(set(ranks), path)
    config = folder / "tokenizer_config.json"
    listed = (
        read_json(folder, config.name, LARGEST).get("added_tokens_decoder", {}) if config.exists() else {}
    )
    if not isinstance(listed, dict) or not all(str(token).isdecimal() for token in listed):
        raise CheckpointError(f"{config}: added_tokens_decoder is no table of ids")
    added = _added(
        [{"id": int(token)} | facts for token, facts in listed.items() if isinstance(facts, dict)], config
    )
    words = {rank: word for word, rank in ranks.items()}
    if {token for token, _ in added.values()} & words.keys():
        raise CheckpointError(f"{config}: an id is a marker and text")
    return Tokenizer(
        BytePairs(ranks, _splitter(pattern)).encode,
        words,
        {name: token for name, (token, special) in added.items() if special},
        {name: token for name, (token, special) in added.items() if not special},
    )


def _splitter(pattern: str) -> Callable[[str], list[str]]:
    from tokenizers import Regex
    from tokenizers.pre_tokenizers import Split

    split = Split(Regex(pattern), "isolated")
    return lambda text: [piece for piece, _ in split.pre_tokenize_str(text)]


def _added(listed: Any, path: Path) -> dict[str, tuple[int, bool]]:
    """Name → (id, whether it is a marker); the others are text that the model may write but no prompt becomes."""
    found: dict[str, tuple[int, bool]] = {}
    for facts in listed if isinstance(listed, list) else [None]:
        known = facts if isinstance(facts, dict) else {}
        name, token = known.get("content"), known.get("id")
        if (
            not isinstance(name, str)
            or not name
            or type(token) is not int
            or not _is_id(token)
            or name in found
        ):
            raise CheckpointError(f"{path}: an added token without a name and id of its own")
        found[name] = token, known.get("special", True) is not False
    if len({token for token, _ in found.values()}) != len(found):
        raise CheckpointError(f"{path}: two added tokens have one id")
    return found


def _is_id(value: object) -> bool:
    return type(value) is int and 0 <= value < 1 << 24


def _joined(merge: object) -> str:
    parts = merge.split(" ") if isinstance(merge, str) else merge
    return "".join(map(str, parts)) if isinstance(parts, list) else ""


def _byte_letters() -> dict[str, int]:
    """The letters by which byte-level words write bytes: their own where it can be seen, else from U+0100 on."""
    seen = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in seen]
    return {chr(byte): byte for byte in seen} | {chr(256 + at): byte for at, byte in enumerate(hidden)}


_BYTE_OF = _byte_letters()


def _bytes_of(word: str, path: Path) -> bytes:
    try:
        return bytes(_BYTE_OF[letter] for letter in word)
    except KeyError as error:
        raise CheckpointError(
            f"{path}: the word {word[:40]!r} is not written in bytes: no byte-level BPE"
        ) from error


def _all_bytes(words: set[bytes], path: Path) -> None:
    missing = next((byte for byte in range(256) if bytes([byte]) not in words), None)
    if missing is not None:
        raise CheckpointError(f"{path}: no word for byte {missing}: some text could not be written")
