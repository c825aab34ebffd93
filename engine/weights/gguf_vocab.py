"""A checkpoint's vocabulary as GGUF keeps it: words, their kinds, the pairs to merge."""

# gguf is an extra that few have, imported where a file is written. Where it is missing, pyright takes
# engine/weights/gguf.py for it.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportCallIssue=false
# pyright: reportGeneralTypeIssues=false

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.config import ModelConfig
from engine.errors import CheckpointError
from engine.vocabulary import LARGEST, read_json_bpe
from engine.weights.files import read_json

if TYPE_CHECKING:
    from gguf import GGUFWriter

_NORMAL, _CONTROL, _USER_DEFINED, _UNUSED = 1, 3, 4, 5


def add_vocabulary(writer: GGUFWriter, folder: Path, config: ModelConfig) -> bool:
    """Whether there is one that GGUF has a name for: tokenizer.json with GPT-2's way of cutting a text. Errors:
    CheckpointError for a damaged one."""
    if not (folder / "tokenizer.json").exists():
        return False
    whole = read_json(folder, "tokenizer.json", LARGEST)
    read_json_bpe(folder)  # refuses what is damaged
    if not _cuts_as_gpt2(whole.get("pre_tokenizer")) or whole.get("normalizer"):
        return False
    words = [f"[unused{token}]" for token in range(config.vocab)]
    kinds = [_UNUSED] * config.vocab
    found = {token: (word, _NORMAL) for word, token in whole["model"]["vocab"].items()}
    found |= {
        facts["id"]: (facts["content"], _CONTROL if facts.get("special", True) else _USER_DEFINED)
        for facts in whole.get("added_tokens") or []
    }
    for token, (word, kind) in found.items():
        if token >= config.vocab:
            raise CheckpointError(f"{folder}: the vocabulary has id {token}, the model {config.vocab} ids")
        words[token], kinds[token] = word, kind
    merges = whole["model"]["merges"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(words)
    writer.add_token_types(kinds)
    writer.add_token_merges([merge if isinstance(merge, str) else " ".join(merge) for merge in merges])
    writer.add_add_bos_token(False)
    if config.bos is not None:
        writer.add_bos_token_id(config.bos)
    if config.eos:
        writer.add_eos_token_id(config.eos[0])
    return True


def _cuts_as_gpt2(found: Any) -> bool:
    return (
        isinstance(found, dict)
        and found.get("type") == "ByteLevel"
        and found.get("use_regex", True) is True
        and not found.get("add_prefix_space", True)
    )
