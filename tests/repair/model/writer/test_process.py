"""What the engine's process writes, on a random checkpoint: other texts than the excerpt, the likeliest first."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from deskagent.repair.model.engine import EngineJudge
from deskagent.repair.model.judge import Asked

pytest.importorskip("torch")

ASKED = Asked("a.py", "a\n", "assert 1 == 2", "a is wrong")


def test_what_it_writes_are_edits(checkpoint: Path, run_dir: Path) -> None:
    writer = EngineJudge(checkpoint, "--kernels", "reference", "--idle", "60")
    try:
        found = writer.proposals(ASKED, 40)
        assert len(found) <= 40
        assert ASKED.excerpt not in [one.after for one in found]
        assert len({one.after for one in found}) == len(found)
        assert all(one.opinion.loglik < 0 and one.opinion.tokens > 2 for one in found)
        logliks = [one.opinion.loglik for one in found]
        assert logliks == sorted(logliks, reverse=True)
    finally:
        if writer.pid is not None:
            os.kill(writer.pid, signal.SIGKILL)
