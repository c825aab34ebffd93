"""A checkpoint of the person's, added and talked with. It is a random one, so what it says is nonsense."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")

OPTIONS = ("--context", "16384", "--output", "24")


@pytest.fixture
def here(agent) -> Iterator[None]:
    """A home whose name is short enough for sockets; what was started there ends."""
    agent.home = Path(tempfile.mkdtemp(prefix="dsk"))
    yield
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(agent.home).encode() in entry.read_bytes():
                os.kill(int(entry.parent.name), signal.SIGKILL)
        except OSError:
            continue
    shutil.rmtree(agent.home)


def test_a_checkpoint_is_added_and_answers_with_its_beginning_cached(
    agent, here: None, checkpoint: Path, project: Path
) -> None:
    added = agent.run([*agent.command, "model", "add", "own/mini", str(checkpoint), *OPTIONS], project)
    assert added.code == 0, added
    listed = agent.run([*agent.command, "model", "list"], project).stdout
    assert "* own/mini" in listed and "embedded" in listed and "thinks" in listed
    words = [*agent.command, "run", "hello", "--tools", "read", "--max-turns", "1", "--output-format", "json"]
    first, second = (agent.run(words, project) for _ in range(2))
    for done in (first, second):
        assert done.code in (0, 1, 53), done
        assert 0 < done.result["usage"]["output_tokens"] <= 48
    assert second.result["usage"]["cached_tokens"] > 1000


def test_a_checkpoint_s_licence_is_asked_for_once(
    agent, here: None, checkpoint: Path, project: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "licensed"
    shutil.copytree(checkpoint, folder)
    (folder / "README.md").write_text("---\nlicense: other\nlicense_name: its-own\n---\n")
    add = [*agent.command, "model", "add", str(folder), *OPTIONS]
    refused = agent.run(add, project)
    assert refused.code == 2 and "its-own" in refused.stderr and "--accept-license" in refused.stderr
    assert not (agent.home / "config" / "models.toml").exists()
    assert agent.run([*add, "--accept-license"], project).code == 0
    assert agent.run(add, project).code == 0, "agreed before"
    done = agent.run([*agent.command, "run", "hi", "--tools", "read", "--max-turns", "1"], project)
    assert "licence" not in done.stderr and done.code in (0, 1, 53), done
