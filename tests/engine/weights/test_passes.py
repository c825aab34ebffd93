"""What a pass holds is told without computing it: shapes are the kernels' own, a real process holds what was said."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from dataclasses import fields, replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from engine.batch import Batch  # noqa: E402
from engine.cache.pools import Pools  # noqa: E402
from engine.config import K3  # noqa: E402
from engine.errors import EngineError  # noqa: E402
from engine.model import Model  # noqa: E402
from engine.process import wire  # noqa: E402
from engine.process.client import Client, status  # noqa: E402
from engine.weights import passes  # noqa: E402
from engine.weights.bare import measured  # noqa: E402
from engine.weights.build import build  # noqa: E402
from engine.weights.checkpoint import Checkpoint  # noqa: E402
from engine.weights.inspect import predict, resident  # noqa: E402
from engine.weights.random import RandomSource  # noqa: E402
from engine.weights.save import save  # noqa: E402
from kernels.dispatch import Ops, select  # noqa: E402
from kernels.layout import Sequences  # noqa: E402
from kernels.shapes import Shapes  # noqa: E402

MIDDLE = replace(
    K3, name="middle", hidden=512, layers=5, vocab=8192, full=(3, 4), kda_heads=4, kda_dim=128, heads=4, q_lora=256,
    kv_lora=128, nope=64, shared_key=32, v_dim=64, dense_inter=1536, experts=32, top_k=4, expert_inter=256, latent=256,
    attn_res_block=4, context=65536, vision=None, bos=0, eos=(1,),
)  # fmt: skip


class Quick(RandomSource):
    """Experts are drawn packed: packing takes longer than all else here."""

    def stacked(self, layer: int, part: str) -> tuple:
        config = self.config
        out, into = config.expert_inter, config.expert_width
        if part == "w2":
            out, into = into, out
        drawn = torch.Generator().manual_seed(layer * 3 + ord(part[-1]))
        packed = torch.randint(0, 256, (config.experts, out, into // 2), dtype=torch.uint8, generator=drawn)
        return packed, torch.full((config.experts, out, into // 32), 120, dtype=torch.uint8)


def told(ops: Ops, notes: list) -> Ops:
    """Notes each operation's results."""

    def noting(name: str):
        operation = getattr(ops, name)

        def run(*arguments, **named):
            made = operation(*arguments, **named)
            parts = made if isinstance(made, tuple) else (made,)
            notes.append((name, [(tuple(part.shape), part.dtype) for part in parts if part is not None]))
            return made

        return run

    return replace(
        ops, **{field.name: noting(field.name) for field in fields(Ops) if field.name != "capture"}
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", ["kimi-linear", "k3", "k3.1"])
def test_results_have_the_shapes_that_are_counted(whole, name: str, dtype) -> None:
    checkpoint = Checkpoint.open(whole[name, True])
    config, tokens = checkpoint.config, torch.arange(40) % 97
    found: list[list] = [[], []]
    for notes, ops, weights, device in (
        (found[0], select(), build(config, checkpoint), "cpu"),
        (found[1], Shapes(halved=False).table(), build(config, passes._Hollow(checkpoint)), "meta"),
    ):
        where = Sequences.of([40], [40], [0], torch.arange(3, dtype=torch.int32)[None]).to(device)
        batch = Batch(tokens.to(device), where, torch.arange(2).to(device), 40)
        model = Model(config, weights, told(ops, notes), dtype)
        model.hidden(batch, Pools.allocate(config, 3, 1, dtype, device, 16))
    assert found[0] == found[1]
    assert len(found[0]) > 40


def test_results_that_nobody_holds_are_not_counted() -> None:
    shapes = Shapes(halved=True)
    ops = shapes.table()
    x, weight = torch.empty(8, 4, device="meta"), torch.empty(16, 4, dtype=torch.bfloat16)
    for _ in range(3):
        made = ops.linear(x, weight)
        del made
    kept = [ops.linear(x, weight), ops.linear(x, weight)]
    assert (shapes.most, shapes.made, shapes.kept) == (2 * 8 * 16 * 4, 5 * 8 * 16 * 4, 8 * 4 * 2)
    del kept


def test_saying_it_takes_no_memory_itself(whole) -> None:
    checkpoint = Checkpoint.open(whole["k3.1", True])
    predict(checkpoint, 64)
    before = resident()
    assert predict(checkpoint, 1 << 20, 4).total > 1 << 27
    assert resident() - before < 20e6


def most(pid: int) -> int:
    """Bytes that a process has held at most. What it holds now is less where memory is short: a system takes pages of
    files back that weren't read of late."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM:")).split()[1]) << 10


def test_a_process_is_measured_that_runs_nothing_of_the_folder(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "__init__.py").write_text("raise SystemExit('this is the project')")
    monkeypatch.chdir(tmp_path)
    assert measured() > 50e6


def test_a_process_that_could_not_be_measured_says_why(tmp_path: Path, monkeypatch) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho it is broken >&2\nexit 3\n")
    python.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(python))
    with pytest.raises(EngineError, match=r"ended with 3 .*: it is broken"):
        measured()


@pytest.mark.slow
@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="this system doesn't tell what a process holds"
)
def test_the_engines_process_holds_what_was_said(tmp_path: Path, monkeypatch) -> None:
    """Within 5 %, and the model's own part within 20 %: a prompt of the longest step, then a long answer."""
    pytest.importorskip("kernels.cpu._native")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    save(MIDDLE, Quick(MIDDLE, dtype=torch.bfloat16), tmp_path)
    said = predict(Checkpoint.open(tmp_path), 1024, 2, process=measured())
    assert said.total - said.process > 70e6
    folder = Path(tempfile.mkdtemp(prefix="eng"))
    try:
        options = ["--pages", "32", "--slots", "2", "--ram", "0", "--idle", "5", "--threads", "1"]
        command = [sys.executable, "-m", "engine.process", os.fspath(folder), os.fspath(tmp_path), *options]
        client = Client(folder, command)
        for count, more in ((512, 32), (700, 8)):
            prompt = [(7 * n * n + 3 * n + 2) % MIDDLE.vocab for n in range(count)]
            list(client.generate(wire.Generate(prompt, max_tokens=more, stop_tokens=[])))
        state = status(folder)
        assert state is not None
        held = most(state.pid)
    finally:
        shutil.rmtree(folder)
    print(f"{held / said.total:.3f} of {said}")
    assert 0.95 < held / said.total < 1.05
    assert 0.8 < (held - said.process) / (said.total - said.process) < 1.2
