"""`deskagent model status`: which engines run here, and how they are doing."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import threading
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from click.testing import CliRunner  # noqa: E402

from deskagent.cli.model import model  # noqa: E402
from deskagent.paths import runtime_dir  # noqa: E402
from engine.api import Caches, Engine  # noqa: E402
from engine.config import MINI  # noqa: E402
from engine.offload.plan import Place, Plan  # noqa: E402
from engine.process import wire  # noqa: E402
from engine.process.client import Client  # noqa: E402
from engine.process.load import placed  # noqa: E402
from engine.process.place import RuntimeFolder  # noqa: E402
from engine.process.server import Server  # noqa: E402
from engine.weights.checkpoint import Checkpoint  # noqa: E402
from engine.weights.random import RandomSource  # noqa: E402
from engine.weights.save import save  # noqa: E402

CONFIG = replace(
    MINI, layers=2, full=(1,), hidden=64, vocab=97, experts=8, latent=32, expert_inter=32, dense_inter=64
)


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch):
    """Short enough for sockets."""
    made = Path(tempfile.mkdtemp(prefix="st"))
    monkeypatch.setenv("DESKAGENT_HOME", str(made))
    yield made
    shutil.rmtree(made)


def says(*options: str) -> str:
    result = CliRunner().invoke(model, ["status", *options])
    assert result.exit_code == 0, result.output
    return result.output


def test_nobody_is_there(home: Path) -> None:
    assert says().endswith("no engine is running\n") and "fix ranks by" in says()
    left = runtime_dir() / "old"
    left.mkdir(parents=True)
    (left / "engine.sock").touch()
    assert json.loads(says("--json")) == [], "what a killed process leaves behind is none"


def test_a_running_engine_is_shown(home: Path) -> None:
    save(CONFIG, RandomSource(CONFIG, mxfp4=True), home / "m")
    plan = Plan("cpu", {1: Place("cpu", 3)}, {}, 8)
    loaded = threading.Event()

    def load() -> Engine:
        loaded.wait(60)
        return Engine(placed(Checkpoint.open(home / "m"), plan, "reference"), Caches(8, 2, ram=0))

    place = RuntimeFolder.at(runtime_dir() / "one")
    server = Server(place, load, 60, "some\x1bwhere")
    thread = threading.Thread(target=server.run, args=(place.listen(),))
    thread.start()
    try:
        assert "loading" in says()
        loaded.set()
        Client(place.folder, ["false"]).score(wire.Score([1, 2, 3], [[4]]))
        said = says()
        assert f"{os.getpid()}  some" in said
        assert "\x1b" not in said
        assert "0 running, 0 waiting" in said
        assert "experts from disk: " in said
        (state,) = json.loads(says("--json"))
        assert state["experts"]["misses"] > 0
    finally:
        loaded.set()
        server.stop()
        thread.join(60)
    assert not thread.is_alive()
