"""A real process: started by the first question, shared, killed, started anew."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

import pytest

pytest.importorskip("torch")

from engine.errors import LostError
from engine.process import wire
from engine.process.client import Client

PROMPT = [(3 * n * n + n) % 96 for n in range(30)]
QUESTION = wire.Generate(PROMPT, {"temperature": 0}, 5, [])


def test_started_shared_killed_and_started_anew(folder, checkpoint) -> None:
    command = [
        sys.executable, "-m", "engine.process", str(folder), str(checkpoint), "--kernels", "reference",
        "--pages", "16", "--idle", "30",
    ]  # fmt: skip
    clients = [Client(folder, command) for _ in range(2)]
    answers: dict[int, list] = {}

    def ask(number: int) -> None:
        answers[number] = list(clients[number].generate(QUESTION))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert [one.token for one in answers[0][:-1]] == [one.token for one in answers[1][:-1]]
    assert clients[0].pid == clients[1].pid != os.getpid(), "both were answered by one process"
    assert (folder / "engine.sock").stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700

    for _ in range(5):  # on a busy machine the whole answer may be there before the signal
        running = clients[0].generate(wire.Generate(PROMPT, {}, 450, []))
        next(running)
        first, lost = clients[0].pid, ""
        os.kill(first, signal.SIGKILL)
        try:
            list(running)
        except LostError as error:
            lost = str(error)
            break
    assert "ended during the request; asking again starts it anew" in lost
    assert (folder / "engine.sock").exists(), "what a killed process leaves behind"
    again = list(clients[1].generate(QUESTION))
    assert [one.token for one in again[:-1]] == [one.token for one in answers[0][:-1]]
    assert clients[1].pid not in (first, None)

    os.kill(clients[1].pid, signal.SIGTERM)
    until = time.monotonic() + 60
    while (folder / "engine.sock").exists():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_process_that_hangs_is_ended_and_the_next_question_starts_another(folder, checkpoint) -> None:
    command = [
        sys.executable, "-m", "engine.process", str(folder), str(checkpoint), "--kernels", "reference",
        "--pages", "16", "--idle", "30",
    ]  # fmt: skip
    question = wire.Score(PROMPT, [[1, 2]])
    patient = Client(folder, command, silence=120)
    first = patient.score(question)
    hung = patient.pid
    os.kill(hung, signal.SIGSTOP)
    with pytest.raises(LostError, match=r"said nothing for 1 s and was ended"):
        Client(folder, command, silence=0.1).score(question)
    assert patient.score(question)[0] == pytest.approx(first[0], abs=1e-3)
    assert patient.pid not in (hung, None)
    os.kill(patient.pid, signal.SIGTERM)
