"""A model's server that says what a test has it say, and a small project to work on."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

SERVER = Path(__file__).with_name("model_server.py")


@dataclass
class Server:
    """asked: the requests so far."""

    port: int
    log: Path

    @property
    def asked(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []


@pytest.fixture
def serve(agent, tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """A model `stand/in` that says what a script says, set up as the default."""
    running: list[subprocess.Popen[str]] = []

    def start(*answers: list[Any]) -> Server:
        script, log = tmp_path / f"script{len(running)}.json", tmp_path / f"asked{len(running)}.jsonl"
        script.write_text(json.dumps(answers))
        child = subprocess.Popen(
            [sys.executable, str(SERVER), str(script), str(log)], stdout=subprocess.PIPE, text=True
        )
        running.append(child)
        assert child.stdout is not None
        port = int(child.stdout.readline())
        config = agent.home / "config"
        config.mkdir(parents=True, exist_ok=True)
        (config / "models.toml").write_text(
            f'default = "stand/in"\n["stand/in"]\ndialect = "vllm"\nbase = "http://127.0.0.1:{port}/v1"\n'
        )
        return Server(port, log)

    yield start
    for child in running:
        child.kill()
        child.communicate()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    return folder
