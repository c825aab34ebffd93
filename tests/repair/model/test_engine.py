"""A real process with a random checkpoint: what it says is what the engine computes, and its end is survived."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest

from deskagent import licences
from deskagent.repair.model import find as finding
from deskagent.repair.model.engine import EngineJudge
from deskagent.repair.model.judge import Asked, Gone

torch = pytest.importorskip("torch")

ASKED = Asked("a.py", "def f(a):\n    return a", "assert 1 == 2", "f is wrong")
AFTER = [ASKED.excerpt, "def f(a):\n    return b", "def f(b):\n    return a"]


@pytest.fixture
def judge(checkpoint: Path, run_dir: Path):
    made = EngineJudge(checkpoint, "--kernels", "reference", "--idle", "60")
    yield made
    if made.pid is not None:
        os.kill(made.pid, signal.SIGKILL)


def test_it_says_what_the_engine_computes_and_is_started_anew(judge: EngineJudge, checkpoint: Path) -> None:
    from engine.api import Caches, Engine
    from engine.process.load import load
    from engine.prompt import Marker, encode, render
    from engine.prompt.repair import Question, ask

    said = judge.opinions(ASKED, AFTER)
    model, tokenizer = load(checkpoint, "reference")
    engine = Engine(model, Caches(64), tokenizer)
    context = encode(
        render(ask(Question("a.py", ASKED.excerpt, ASKED.failure, ASKED.request))), tokenizer
    ).tokens
    texts = ["none\n", "2\n-a\n+b\n", "1\n-a\n+b\n"]
    answers = [encode([text, Marker.CLOSE], tokenizer).tokens for text in texts]
    scores = engine.score(context, answers)
    assert [opinion.tokens for opinion in said] == [len(answer) for answer in answers]
    assert [opinion.loglik for opinion in said] == pytest.approx([score.total for score in scores], abs=1e-3)

    first = judge.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    again = judge.opinions(ASKED, AFTER)
    assert [one.loglik for one in again] == pytest.approx([one.loglik for one in said], abs=1e-3)
    assert judge.pid != first


def test_a_checkpoint_that_was_replaced_is_not_answered_by_the_process_of_the_old_one(
    checkpoint: Path, run_dir: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "mini"
    shutil.copytree(checkpoint, folder)
    asked = [EngineJudge(folder, "--kernels", "reference", "--idle", "60") for _ in range(3)]
    pids = []
    try:
        for number, one in enumerate(asked):
            if number == 2:  # its bytes are others, its size isn't
                weights = next(iter(sorted(folder.glob("*.safetensors"))))
                shutil.copy(weights, tmp_path / "again")
                (tmp_path / "again").replace(weights)
            one.opinions(ASKED, AFTER)
            pids.append(one.pid)
    finally:
        for pid in {*pids} - {None}:
            os.kill(pid, signal.SIGKILL)
    assert pids[0] == pids[1] != pids[2]


def test_a_checkpoint_that_cannot_be_read_is_told(tmp_path: Path, run_dir: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(Gone, match="can't be asked"):
        EngineJudge(tmp_path).opinions(ASKED, AFTER)


def test_it_is_found_by_its_folder(checkpoint: Path) -> None:
    chosen = finding.choose(str(checkpoint)).folder
    assert chosen is not None
    found = finding.judge(chosen)
    assert found is not None and isinstance(found[0], EngineJudge)


def test_a_checkpoint_under_a_licence_of_its_own_answers_once_it_was_agreed_to(
    checkpoint: Path, run_dir: Path, tmp_path: Path
) -> None:
    from engine.weights.card import fingerprint, licence_of

    folder = tmp_path / "licensed"
    shutil.copytree(checkpoint, folder)
    (folder / "README.md").write_text("---\nlicense: other\nlicense_name: its-own\n---\n")
    judge = EngineJudge(folder, "--kernels", "reference", "--idle", "60")
    with pytest.raises(Gone, match="its-own"):
        judge.opinions(ASKED, AFTER)
    licence = licence_of(folder)
    assert licence is not None
    licences.remember(fingerprint(folder, licence), licence.name, folder)
    agreed = EngineJudge(folder, "--kernels", "reference", "--idle", "60")
    try:
        assert len(agreed.opinions(ASKED, AFTER)) == len(AFTER)
    finally:
        if agreed.pid is not None:
            os.kill(agreed.pid, signal.SIGKILL)
