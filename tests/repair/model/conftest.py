"""Judges that say what a test wants, and a random checkpoint that knows the prompt format."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from deskagent.repair.model.judge import Asked, Gone, Opinion


class Scripted:
    """Says `opinion(after)` for each text; gone after `lives` questions."""

    def __init__(self, opinion: Callable[[str], float], lives: int = 1000) -> None:
        self.opinion, self.lives = opinion, lives
        self.asked: list[tuple[Asked, list[str]]] = []

    def warm(self) -> None:
        pass

    def opinions(self, asked: Asked, after: Sequence[str]) -> list[Opinion]:
        self.asked.append((asked, list(after)))
        if len(self.asked) > self.lives:
            raise Gone("The model answers no more: it was killed")
        return [Opinion(self.opinion(text), 4) for text in after]


@pytest.fixture
def scripted() -> type[Scripted]:
    return Scripted


@pytest.fixture
def run_dir(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home whose name is short enough for sockets."""
    made = Path(tempfile.mkdtemp(prefix="dsk"))
    monkeypatch.setenv("DESKAGENT_HOME", str(made))
    yield made / "run"
    shutil.rmtree(made)


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the smallest model, with a vocabulary of bytes and markers."""
    pytest.importorskip("torch")
    tokenizers = pytest.importorskip("tokenizers")
    from dataclasses import replace

    from engine.config import MINI, Indexer
    from engine.prompt import Marker
    from engine.weights.random import RandomSource
    from engine.weights.save import save

    made = tmp_path_factory.mktemp("checkpoint")
    config = replace(
        MINI, hidden=64, layers=3, full=(2,), vocab=300, kda_heads=2, kda_dim=16, heads=2, q_lora=32, kv_lora=32,
        nope=16, shared_key=8, v_dim=16, dense_inter=96, experts=4, expert_inter=32, latent=32, attn_res_block=3,
        indexer=Indexer(2, 16, 24), context=8192, bos=298, eos=(299,),
    )  # fmt: skip
    save(config, RandomSource(config), made)
    letters = tokenizers.pre_tokenizers.ByteLevel
    vocabulary = {letter: number for number, letter in enumerate(sorted(letters.alphabet()))}
    built = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=[]))
    built.pre_tokenizer = letters(add_prefix_space=False)
    built.add_special_tokens([marker.value for marker in Marker])
    built.save(str(made / "tokenizer.json"))
    return made
