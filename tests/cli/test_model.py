from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from click.testing import CliRunner, Result  # noqa: E402

from deskagent import licences  # noqa: E402
from deskagent.cli import engine_extra  # noqa: E402
from deskagent.cli.licence import agree  # noqa: E402
from deskagent.cli.model import model  # noqa: E402
from deskagent.errors import DeskagentError, TransientError, UsageError  # noqa: E402
from engine.config import K3_VISION, MINI  # noqa: E402
from engine.weights.checkpoint import Checkpoint  # noqa: E402
from engine.weights.random import RandomSource  # noqa: E402
from engine.weights.save import save  # noqa: E402

CONFIG = replace(
    MINI, layers=4, full=(3,), hidden=64, vocab=200, experts=4, latent=32, expert_inter=32, dense_inter=64
)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plain") / "model"
    save(CONFIG, RandomSource(CONFIG, mxfp4=False, dtype=torch.bfloat16), folder)
    return folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DESKAGENT_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def licensed(plain: Path, home: Path):
    (plain / "README.md").write_text("---\nlicense: other\nlicense_name: its\x1bown\n---\n")
    (plain / "LICENSE").write_text("Be kind.\x1b]0;owned\x07\n")
    yield plain
    (plain / "README.md").unlink()
    (plain / "LICENSE").unlink()


def call(*arguments: str | Path, **more) -> Result:
    return CliRunner().invoke(model, [str(argument) for argument in arguments], **more)


def test_inspect_shows_where_it_would_lie(plain: Path) -> None:
    assert "plan for this machine:\ncpu: trunk, caches" in call("inspect", plain, "--device", "cpu").output
    small = call("inspect", plain, "--device", "cpu", "--memory", "0.001")
    assert small.exit_code == 0
    assert "it doesn't fit: cpu may hold 1.0 MB" in small.output
    found = json.loads(call("inspect", plain, "--device", "cpu", "--json").output)
    assert found["plan"][1] == "cpu: all 4 experts of layers 1 to 3"


def test_inspect_shows_tensors_and_memory(plain: Path) -> None:
    output = call("inspect", plain, "--context", "1000").output
    assert "4 experts of which 2 a token" in output
    assert "routed experts" in output
    found = json.loads(call("inspect", plain, "--json", "--context", "100000", "--sequences", "3").output)
    assert found["memory"]["total"] == sum(size for name, size in found["memory"].items() if name != "total")
    assert (
        found["memory"]["weights"]
        == Checkpoint.open(plain).bytes()
        == sum(row["bytes"] for row in found["tensors"])
    )
    assert found["licence"] is None


def test_quantize_verify_and_back(plain: Path, tmp_path: Path) -> None:
    result = call("quantize", plain, tmp_path / "q")
    assert result.exit_code == 0, result.output
    assert "100 %" in result.output
    verified = call("verify", tmp_path / "q")
    assert verified.exit_code == 0
    assert "whole" in verified.output
    assert call("quantize", "--back", tmp_path / "q", tmp_path / "wide").exit_code == 0
    assert call("verify", plain).output.startswith("readable")
    with next((tmp_path / "q").glob("*.safetensors")).open("r+b") as file:
        file.seek(-1, 2)
        file.write(b"\x55")
    damaged = call("verify", tmp_path / "q")
    assert damaged.exit_code == 1
    assert "damaged" in damaged.output


def test_export_says_that_the_patch_encoder_stays_out(tmp_path: Path) -> None:
    gguf = pytest.importorskip("gguf")
    vision = replace(K3_VISION, hidden=32, layers=1, heads=2, inter=48, width=32, grid=4)
    config = replace(CONFIG, vision=vision)
    save(config, RandomSource(config, dtype=torch.bfloat16), tmp_path / "seeing")
    result = call("export", tmp_path / "seeing", tmp_path / "m.gguf")
    assert result.exit_code == 0, result.output
    assert "reads text alone" in result.output
    written = gguf.GGUFReader(tmp_path / "m.gguf").tensors
    assert not any("vision" in tensor.name or "projector" in tensor.name for tensor in written)
    output = call("inspect", tmp_path / "seeing", "--json").output
    (row,) = [row for row in json.loads(output)["tensors"] if row["kind"] == "vision"]
    assert row["tensors"] == 12
    assert row["dtypes"] == ["bfloat16"]


def test_export_to_gguf(plain: Path, tmp_path: Path) -> None:
    gguf = pytest.importorskip("gguf")
    assert call("quantize", plain, tmp_path / "q").exit_code == 0
    result = call("export", tmp_path / "q", tmp_path / "m.gguf")
    assert result.exit_code == 0, result.output
    assert "no indexer" in result.output
    assert "no vocabulary" in result.output
    reader = gguf.GGUFReader(tmp_path / "m.gguf")
    kinds = {tensor.name: tensor.tensor_type.name for tensor in reader.tensors}
    assert kinds["blk.1.ffn_gate_exps.weight"] == "MXFP4"
    assert kinds["token_embd.weight"] == "F32"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.gguf", "q"]
    again = call("export", tmp_path / "q", tmp_path / "m.gguf")
    assert isinstance(again.exception, UsageError)


def test_a_licence_of_its_own_is_asked_for_once(licensed: Path, tmp_path: Path) -> None:
    result = call("quantize", licensed, tmp_path / "q")
    assert isinstance(result.exception, UsageError)
    assert "--accept-license" in str(result.exception)
    assert "Be kind." in result.output
    assert "\x1b" not in result.output
    assert not (tmp_path / "q").exists()
    assert call("quantize", licensed, tmp_path / "q", "--accept-license").exit_code == 0
    result = call("quantize", licensed, tmp_path / "q2")
    assert result.exit_code == 0
    assert "Be kind." not in result.output
    (licensed / "LICENSE").write_text("Be kinder.")
    assert isinstance(call("quantize", licensed, tmp_path / "q3").exception, UsageError)


def test_agreeing_gives_what_the_engine_has_to_be_told(licensed: Path) -> None:
    from engine.weights.card import check_agreed

    told = agree(licensed, accepted=True)
    assert told is not None
    check_agreed(licensed, told)
    assert agree(licensed, accepted=False) == told
    (licensed / "README.md").write_text("---\nlicense: mit\n---\n")
    assert agree(licensed, accepted=False) is None


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 2), ("\n", 2)])
def test_a_person_is_asked_at_a_terminal(
    licensed: Path, home: Path, tmp_path: Path, answer: str, code: int
) -> None:
    pexpect = pytest.importorskip("pexpect")
    child = pexpect.spawn(
        sys.executable, ["-m", "deskagent", "model", "quantize", str(licensed), str(tmp_path / "q")],
        env=os.environ | {"DESKAGENT_HOME": str(home)}, timeout=120, encoding="utf-8",
    )  # fmt: skip
    child.expect("Do you agree to it")
    child.send(answer)
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == code
    assert (home / "data" / "licences").exists() == (code == 0)


def test_an_agreement_that_can_not_be_kept(home: Path) -> None:
    (home / "data").mkdir(parents=True)
    (home / "data" / "licences").write_text("in the way")
    with pytest.raises(TransientError, match="can't be kept"):
        licences.remember("0" * 64, "own", home)


@pytest.mark.parametrize("command", ["inspect", "verify"])
def test_a_damaged_checkpoint_is_told_in_words(plain: Path, tmp_path: Path, command: str) -> None:
    (tmp_path / "config.json").write_bytes((plain / "config.json").read_bytes())
    (tmp_path / "pytorch_model.bin").write_bytes(b"pickle")
    result = call(command, tmp_path)
    assert isinstance(result.exception, DeskagentError)
    assert "pickle" in str(result.exception)


def test_without_the_extra_a_clear_word(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        engine_extra.importlib.util, "find_spec", lambda name: None if name == "torch" else find(name)
    )
    result = call("inspect", plain)
    assert isinstance(result.exception, UsageError)
    assert "pip install 'deskagent[engine]'" in str(result.exception)


def test_the_command_is_listed() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "deskagent", "model", "--help"], capture_output=True, text=True
    )
    assert done.returncode == 0
    for command in ("inspect", "verify", "quantize", "export", "regress"):
        assert command in done.stdout
