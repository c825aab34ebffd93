"""A real process with a random checkpoint: what it says is what the engine computes, and its end is survived."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from deskagent.repair.model.engine import EngineJudge
from deskagent.repair.model.find import find
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


def test_a_checkpoint_that_cannot_be_read_is_told(tmp_path: Path, run_dir: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(Gone, match="can't be asked"):
        EngineJudge(tmp_path).opinions(ASKED, AFTER)


def test_it_is_found_by_its_folder(checkpoint: Path) -> None:
    found = find(str(checkpoint))
    assert found is not None and isinstance(found[0], EngineJudge)
