"""The socket's other end, in a thread: right answers, errors as they are, rubbish and hang-ups survived."""

from __future__ import annotations

import io
import os
import socket
import struct
import sys
import threading
import time

import pytest

torch = pytest.importorskip("torch")

from engine.errors import CheckpointError, LostError, RequestError  # noqa: E402
from engine.generate.sample import GREEDY, Sampling  # noqa: E402
from engine.generate.sequence import Request  # noqa: E402
from engine.offload.plan import Place, Plan  # noqa: E402
from engine.process import wire  # noqa: E402
from engine.process.client import Client, status  # noqa: E402
from engine.process.load import placed  # noqa: E402
from engine.process.place import RuntimeFolder  # noqa: E402
from engine.process.server import Server  # noqa: E402
from engine.weights.checkpoint import Checkpoint  # noqa: E402

PROMPT = [(3 * n * n + n) % 96 for n in range(30)]
NOTHING = [sys.executable, "-c", "raise SystemExit('nothing to start here')"]


@pytest.fixture
def serving(folder):
    """serving(engine) → the running server, its thread."""
    running = []

    def start(load, idle=60.0):
        place = RuntimeFolder.at(folder)
        assert place.lock() is not None
        server = Server(place, load, idle)
        thread = threading.Thread(target=server.run, args=(place.listen(),))
        thread.start()
        running.append((server, thread))
        return server, thread

    yield start
    for server, thread in running:
        server.stop()
        thread.join(60)
        assert not thread.is_alive()


def test_answers_are_those_of_the_engine(engine, serving, folder) -> None:
    made = engine(ram=1 << 20)
    serving(lambda: made)
    client = Client(folder, NOTHING)
    sampling = {"temperature": 0.7, "seed": 5, "logprobs": 2}
    *tokens, end = client.generate(wire.Generate(PROMPT, sampling, 6, []))
    expected, text, finish = engine().generate(Request(PROMPT, Sampling(**sampling), 6, frozenset())).read()
    assert [one.token for one in tokens] == expected
    assert "".join(one.text for one in tokens) + end.text == text
    assert (end.reason, end.usage[:3]) == ("length", (30, 0, 6))
    assert finish.reason == end.reason
    assert all(len(one.logprob[1]) == 2 for one in tokens)
    scores = client.score(wire.Score(PROMPT, [[1, 2], [], [1, 3]]))
    direct = engine().score(PROMPT, [[1, 2], [], [1, 3]])
    torch.testing.assert_close(torch.tensor(scores[2]), torch.tensor(direct[2].tokens), rtol=1e-4, atol=1e-4)
    vectors = client.embed(wire.Embed([PROMPT, PROMPT[:3]]))
    assert (vectors.rows, vectors.width, len(vectors.values)) == (2, 64, 512)
    *_, end = client.generate(
        wire.Generate(PROMPT, {}, 2, [], ["zz"], thinking=([50], [51], 3), images=[(1, 2, bytes(512))])
    )
    assert end.usage[1] <= 1, "where the image stands nothing is known"


class Lines:
    """A vocabulary in which edits can be written."""

    def token_bytes(self, token: int) -> bytes:
        return b"\n12+- ab"[token : token + 1]


def test_edits_are_proposed_as_by_the_engine(engine, serving, folder) -> None:
    made, other = engine(slots=16, pages=160), engine(slots=16, pages=160)
    made.vocabulary = other.vocabulary = Lines()
    serving(lambda: made)
    found = Client(folder, NOTHING).propose(wire.Propose(PROMPT, "1 2\n2 1", 96, width=16, most=14))
    proposed = other.propose(PROMPT, "1 2\n2 1", 96, width=16, most=14)
    assert found
    assert [(text, tokens) for text, _, tokens in found] == [(one.text, len(one.tokens)) for one in proposed]
    assert [loglik for _, loglik, _ in found] == pytest.approx([one.loglik for one in proposed], abs=1e-3)


def test_pictures_are_measured_and_seen(engine, seeing, serving, folder) -> None:
    images = pytest.importorskip("PIL.Image")
    file = io.BytesIO()
    images.linear_gradient("L").resize((90, 60)).save(file, "PNG")
    data = file.getvalue()
    made = engine(model=seeing, ram=1 << 20)
    serving(lambda: made)
    client = Client(folder, NOTHING)
    assert client.measure([data, data]) == [(90, 60, 12)] * 2
    prompt = [3, *[90] * 12, 4]
    question = wire.Generate(prompt, {"temperature": 0}, 3, [], pictures=[(1, data)])
    *tokens, _ = client.generate(question)
    direct = Request(prompt, GREEDY, 3, frozenset(), images=((1, made.picture(data)),))
    assert [one.token for one in tokens] == engine(model=seeing).generate(direct).read()[0]
    *_, end = client.generate(question)
    assert end.usage[1] == 13
    for asked in (wire.Measure([data, data[:60]]), wire.Generate(prompt, {}, 3, pictures=[(1, data[:60])])):
        with pytest.raises(RequestError, match=r"damaged|no picture"):
            list(client._ask(asked))


def test_a_model_of_text_says_so(engine, serving, folder) -> None:
    serving(engine)
    with pytest.raises(RequestError, match="reads text alone"):
        Client(folder, NOTHING).measure([b"x"])


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (wire.Generate([]), "prompt is empty"),
        (wire.Generate([1], {"heat": 3}), "heat"),
        (wire.Generate([1], {"temperature": -3}), "temperature is -3"),
        (wire.Generate([1], grammar=("gbnf", "x")), "gbnf|llguidance"),
        (wire.Generate([1, 2], images=[(0, 3, b"12345")]), "5 bytes aren't 3 rows"),
        (wire.Score([1], [[99]]), "continuation 0: token 0 is 99"),
        (wire.Propose([1], "a", 99), "stop: token 0 is 99"),
        (wire.Propose([1], "a", 96, width=0), "0 beams"),
        (wire.Embed([[]]), "text 0 is empty"),
    ],
)
def test_errors_arrive_as_what_they_are(engine, serving, folder, question, words) -> None:
    serving(engine)
    client = Client(folder, NOTHING)
    with pytest.raises(RequestError, match=words):
        list(client._ask(question))
    assert list(client.generate(wire.Generate([1], {}, 1, [])))


def test_rubbish_harms_nobody(engine, serving, folder) -> None:
    made = engine()
    serving(lambda: made)
    for rubbish in (b"", b"\x01", b"\xff" * 8, struct.pack("<I", 5) + b"hello", b"GET / HTTP/1.1\r\n\r\n"):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(os.fspath(folder / "engine.sock"))
            connection.sendall(rubbish)
    assert len(list(Client(folder, NOTHING).generate(wire.Generate(PROMPT, {}, 3, [])))) == 4


def test_hanging_up_cancels(engine, serving, folder) -> None:
    made = engine()
    serving(lambda: made)
    client = Client(folder, NOTHING)
    for _ in range(5):  # on a busy machine the whole answer may be there before the next line is reached
        answer = client.generate(wire.Generate(PROMPT, {}, 400, []))
        next(answer)
        early = not made.scheduler.idle
        answer.close()
        if early:
            break
    assert early
    until = time.monotonic() + 60
    while not (made.scheduler.idle and made.memory.free_pages == 64):
        assert time.monotonic() < until, "it computes for nobody"
        time.sleep(0.05)


def test_two_askers_share_the_steps(engine, serving, folder) -> None:
    made = engine()
    serving(lambda: made)
    found = {}

    def ask(number: int) -> None:
        client = Client(folder, NOTHING)
        question = wire.Generate([number, *PROMPT], {"temperature": 0}, 8, [])
        found[number] = [one.token for one in client.generate(question) if isinstance(one, wire.Token)]

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for number in range(3):
        assert (
            found[number] == engine().generate(Request([number, *PROMPT], GREEDY, 8, frozenset())).read()[0]
        )


def test_a_model_that_does_not_load_is_told_to_who_asks(serving, folder) -> None:
    def load():
        raise CheckpointError("weights.safetensors: cut off")

    _, thread = serving(load)
    with pytest.raises(CheckpointError, match=r"weights\.safetensors: cut off"):
        list(Client(folder, NOTHING).generate(wire.Generate([1])))
    thread.join(60)
    assert not thread.is_alive()


def test_its_state_is_told_before_and_after_loading(engine, serving, folder) -> None:
    assert status(folder) is None, "nobody is there, and nobody is started"
    loaded = threading.Event()

    def load():
        loaded.wait(60)
        return engine()

    serving(load)
    state = status(folder)
    assert state is not None
    assert (state.pid, state.ready, state.running, state.experts) == (os.getpid(), False, 0, {})
    loaded.set()
    list(Client(folder, NOTHING).generate(wire.Generate(PROMPT, {"temperature": 0}, 2, [])))
    state = status(folder)
    assert state is not None
    assert (state.ready, state.waiting, state.experts) == (True, 0, {}), "all experts are resident"
    assert state.memory > 1 << 20


def test_experts_that_come_from_disk_are_told_of(engine, checkpoint, serving, folder) -> None:
    opened = Checkpoint.open(checkpoint)
    config = opened.config
    layers = range(config.dense_layers, config.layers)
    plan = Plan("cpu", {layer: Place("cpu", config.top_k + 1) for layer in layers}, {}, config.experts)
    serving(lambda: engine(model=placed(opened, plan, "reference")))
    client = Client(folder, NOTHING)
    list(client.generate(wire.Generate(PROMPT, {"temperature": 0}, 2, [])))
    state = status(folder)
    assert state is not None
    assert state.experts["misses"] > 0
    assert 0 < state.experts["resident"] <= state.experts["read"]


def test_gone_when_idle(engine, serving, folder) -> None:
    _, thread = serving(engine, idle=0.3)
    thread.join(60)
    assert not thread.is_alive()
    assert not (folder / "engine.sock").exists()
    with pytest.raises(LostError, match="nothing to start here"):
        list(Client(folder, NOTHING).generate(wire.Generate([1])))


def test_a_folder_that_others_can_enter_is_refused(folder) -> None:
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    with pytest.raises(RequestError, match="yours alone"):
        Client(folder, NOTHING)
    folder.chmod(0o700)
    linked = folder.parent / "link"
    linked.symlink_to(folder)
    with pytest.raises(RequestError, match="yours alone"):
        Client(linked, NOTHING)
    with pytest.raises(RequestError, match="too long for a socket"):
        Client(folder / ("x" * 90), NOTHING)


def test_one_lock_one_server(folder) -> None:
    place = RuntimeFolder.at(folder)
    first = place.lock()
    assert first is not None
    assert place.lock() is None
    os.close(first)
    again = place.lock()
    assert again is not None
    os.close(again)
