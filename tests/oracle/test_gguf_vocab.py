"""The vocabulary that we export, read by llama.cpp: the same ids for the same text, markers by name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("gguf")
pytest.importorskip("tokenizers")
llama_cpp = pytest.importorskip("llama_cpp")

from tokenizers import Tokenizer, models, pre_tokenizers, trainers  # noqa: E402

from engine.config import K3  # noqa: E402
from engine.tokenizer import load  # noqa: E402
from engine.weights.gguf import export  # noqa: E402
from engine.weights.random import RandomSource  # noqa: E402

CONFIG = replace(
    K3, hidden=64, layers=2, full=(1,), vocab=400, kda_heads=2, kda_dim=32, heads=2, q_lora=32, kv_lora=32, nope=32,
    shared_key=16, v_dim=32, dense_inter=96, experts=4, top_k=2, expert_inter=64, latent=32, attn_res_block=2,
    context=512, vision=None, bos=0, eos=(1,),
)  # fmt: skip
TEXTS = [
    "def f(x):\n    return x  # 漢字",
    "It's 12:30, isn't it? é🙂",
    "a\r\n\r\n\tb   c",
    "<|open|>message<|sep|>",
]


def test_llama_cpp_reads_the_vocabulary(tmp_path: Path) -> None:
    built = Tokenizer(models.BPE())
    built.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=350,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["[BOS]", "[EOS]", "<|open|>", "<|sep|>"],
    )
    built.train_from_iterator(TEXTS * 3, trainer)
    built.save(str(tmp_path / "tokenizer.json"))
    ours = load(tmp_path)
    assert export(CONFIG, RandomSource(CONFIG), tmp_path / "m.gguf", vocabulary=tmp_path)
    theirs = llama_cpp.Llama(str(tmp_path / "m.gguf"), vocab_only=True, verbose=False)
    for text in TEXTS:
        assert theirs.tokenize(text.encode(), add_bos=False, special=False) == ours.encode(text), text
        assert theirs.detokenize(ours.encode(text)) == text.encode()
    assert theirs.tokenize(b"<|open|>", add_bos=False, special=True) == [ours.marker("<|open|>")]
