"""What tests share: a home of deskagent's own, so that none touches the developer's sessions; small models."""

from __future__ import annotations

import os
import shutil
import struct
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest

if not Path("/dev/nvidiactl").exists():  # Triton asks once, when its kernels are imported
    os.environ.setdefault("TRITON_INTERPRET", "1")

# The same examples in every run, however busy the machine is; `--hypothesis-profile=default` looks for new ones.
hypothesis.settings.register_profile(
    "steady", derandomize=True, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("steady")


@pytest.fixture(scope="session", autouse=True)
def deskagent_home(tmp_path_factory: pytest.TempPathFactory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DESKAGENT_HOME", str(tmp_path_factory.mktemp("deskagent-home")))
        patch.delenv("DESKAGENT_SANDBOX", raising=False)
        patch.setenv("DESKAGENT_MODEL", "none")
        yield


@pytest.fixture
def run_dir(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The runtime folder of a home whose name is short enough for sockets."""
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


@pytest.fixture
def gguf(tmp_path: Path) -> Callable[..., Path]:
    """A GGUF file with these keys and no tensors."""

    def text(value: str) -> bytes:
        raw = value.encode()
        return struct.pack("<Q", len(raw)) + raw

    def value(given: object) -> bytes:
        if isinstance(given, str):
            return struct.pack("<I", 8) + text(given)
        if isinstance(given, list):
            return struct.pack("<IIQ", 9, 8, len(given)) + b"".join(map(text, given))
        return struct.pack("<II", 4, given)

    def make(name: str = "m.gguf", **keys: object) -> Path:
        usual = {
            "general.architecture": "qwen2",
            "qwen2.context_length": 8192,
            "tokenizer.ggml.tokens": ["a", "bc"],
        }
        found = {**usual, **keys}
        body = b"".join(text(key) + value(each) for key, each in found.items())
        file = tmp_path / name
        file.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, len(found)) + body)
        return file

    return make
