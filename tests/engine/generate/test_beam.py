"""Beam search: what it finds is what scoring says of it, and the best there is where it can see all."""

from __future__ import annotations

import itertools
import threading
from dataclasses import dataclass

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from engine.api import Caches, Engine  # noqa: E402
from engine.errors import CancelledError, CapacityError, EngineError, RequestError  # noqa: E402
from engine.generate.beam import Beams, Wanted  # noqa: E402
from engine.generate.sample import GREEDY  # noqa: E402
from engine.generate.sequence import Request  # noqa: E402
from engine.generate.words import Words  # noqa: E402
from engine.prompt.edits import apply, parse  # noqa: E402
from engine.prompt.hunks import Hunks  # noqa: E402

CONTEXT = [(3 * n * n + n) % 96 for n in range(45)]
EXCERPT = "def a(b):\n    c = b\n    return c"
STOP = 96
WORDS = [
    *"\n12+- ab03456789cdefr( ):=,.", "\n+", "\n-", "-    ", "+    ", "return", "re", " b", "b\n", "b\n+c", "12", "1\n",
    "c = ",
    "\n\n", "+a\n2", b"\xc3", b"\xa9", b"\xff", "é", "\0", "\r", "    ",
]  # fmt: skip


class Lines:
    """A vocabulary that can write edits, some words of which go over ends of lines. words: as many of them."""

    def __init__(self, words: int = len(WORDS)) -> None:
        self.words = [word.encode() if isinstance(word, str) else word for word in WORDS[:words]]

    def token_bytes(self, token: int) -> bytes:
        return self.words[token] if token < len(self.words) else b""


FEW, SHORT = 8, "1 2\n2 1"
"""A vocabulary, and an excerpt, of which answers are so short that also a random model ends some."""


@pytest.fixture
def made(tiny):
    def make(words: int = len(WORDS), **caches) -> Engine:
        sizes = {"pages": 160, "slots": 24, "page": 8, "ram": 0} | caches
        return Engine(tiny, Caches(**sizes), Lines(words), budget=64)

    return make


def assert_free(engine: Engine) -> None:
    assert (engine.memory.free_pages, engine.memory.free_slots) == (engine.memory.pages, engine.memory.slots)


@given(st.lists(st.text("ab é+-1", max_size=6), min_size=1, max_size=12).map("\n".join), st.data())
def test_the_tokens_allowed_are_those_whose_bytes_may_follow(excerpt, data) -> None:
    words = Words(Lines(), 97)
    rule = Hunks.of(excerpt).start()
    for _ in range(12):
        allowed = words.allowed(rule).tolist()
        assert allowed == [
            t for t in range(97) if Lines().token_bytes(t) and words.after(rule, t) is not None
        ]
        if not allowed:
            return
        rule = words.after(rule, data.draw(st.sampled_from(allowed)))
        assert rule is not None


@pytest.mark.parametrize("width", [1, 3, 24])
@pytest.mark.parametrize("power", [0.0, 1.0])
def test_proposals_are_edits_with_the_likelihoods_that_scoring_gives(made, width, power) -> None:
    engine = made(FEW)
    found = engine.propose(CONTEXT, SHORT, STOP, width=width, most=14, power=power)
    assert len(found) <= width
    assert width < 24 or found
    assert_free(engine)
    texts = [apply(parse(one.text), SHORT) for one in found]
    assert SHORT not in texts
    assert len({*texts}) == len(texts)
    scores = engine.score(CONTEXT, [one.tokens for one in found])
    assert [one.loglik for one in found] == pytest.approx([score.total for score in scores], abs=1e-3)
    values = [one.loglik / len(one.tokens) ** power for one in found]
    assert values == sorted(values, reverse=True)
    for one in found:
        assert one.tokens[-1] == STOP and STOP not in one.tokens[:-1]
        assert b"".join(map(Lines().token_bytes, one.tokens)).decode() == one.text
    assert found == engine.propose(CONTEXT, SHORT, STOP, width=width, most=14, power=power)


def greedy(engine: Engine, rule, words: Words, most: int) -> list[int]:
    tokens: list[int] = []
    for _ in range(most):
        ways = [*words.allowed(rule).tolist(), *([STOP] if rule.complete else [])]
        scores = engine.score([*CONTEXT, *tokens], [[way] for way in ways])
        tokens.append(max(zip(ways, scores, strict=True), key=lambda pair: pair[1].total)[0])
        if tokens[-1] == STOP:
            break
        rule = words.after(rule, tokens[-1])
    return tokens


@dataclass(frozen=True)
class Short:
    """Answers of so many letters at most, of two kinds."""

    left: int
    complete: bool = False
    free: bool = False

    def follow(self):
        return b"ab"

    def after(self, byte: int) -> Short | None:
        return Short(self.left - 1, True) if byte in b"ab" and self.left else None


def search(engine: Engine, start, width: int, most: int = 9, power: float = 0.0, made=str):
    """As `Engine.propose`, by any rules."""
    wanted = Wanted(start, made, STOP, width, most, power)
    words = Words(engine.vocabulary or Lines(), 97)
    beams = Beams(engine.scheduler.logits, words, wanted)
    engine._drive(beams.steps(engine._computed(CONTEXT[:-1], False, None), CONTEXT[-1]), beams.close, None)
    return beams.proposals


@pytest.mark.parametrize("power", [0.0, 0.7])
def test_with_room_for_all_it_finds_all_in_their_order(made, power) -> None:
    engine = made()
    texts = ["".join(letters) for n in range(1, 4) for letters in itertools.product("ab", repeat=n)]
    found = search(engine, Short(3), 24, power=power)
    assert sorted(one.text for one in found) == sorted(texts)
    ids = {"a": WORDS.index("a"), "b": WORDS.index("b")}
    answers = [[*(ids[letter] for letter in text), STOP] for text in texts]
    scores = engine.score(CONTEXT, answers)
    values = {
        text: score.total / len(answer) ** power
        for text, score, answer in zip(texts, scores, answers, strict=True)
    }
    assert [values[one.text] for one in found] == pytest.approx(
        sorted(values.values(), reverse=True), abs=1e-3
    )
    best = search(engine, Short(3), 4, power=power)[0]
    assert best.loglik <= found[0].loglik + 1e-3 or power


def test_one_beam_is_the_greedy_answer(made) -> None:
    engine = made()
    words = Words(Lines(), 97)
    (found,) = search(engine, Short(5), 1)
    assert list(found.tokens) == greedy(engine, Short(5), words, 9)


def test_what_comes_to_the_same_is_told_once_as_the_likeliest(made) -> None:
    engine = made()
    found = search(engine, Short(3), 24, made=lambda text: str(len(text)))
    each = search(engine, Short(3), 24)
    assert len(found) == 3
    for one in found:
        assert one.loglik == max(other.loglik for other in each if len(other.text) == len(one.text))
    assert search(engine, Short(3), 24, made=lambda text: None) == []


@settings(max_examples=4, deadline=None)
@given(page=st.sampled_from([3, 8]), ram=st.sampled_from([0, 1 << 20]), spare=st.integers(0, 3))
def test_how_memory_is_cut_changes_nothing(tiny, page, ram, spare) -> None:
    engine = Engine(tiny, Caches(pages=200, slots=6 + spare, page=page, ram=ram), Lines(FEW), budget=16)
    plain = Engine(tiny, Caches(pages=200, slots=24, page=8, ram=0), Lines(FEW), budget=64)
    found = engine.propose(CONTEXT, SHORT, STOP, width=6, most=12)
    again = engine.propose(CONTEXT, SHORT, STOP, width=6, most=12)
    expected = plain.propose(CONTEXT, SHORT, STOP, width=6, most=12)
    for some in (found, again):
        assert [one.text for one in some] == [one.text for one in expected]
        assert [one.loglik for one in some] == pytest.approx([one.loglik for one in expected], abs=1e-3)
    if engine.prefix is not None:
        engine.prefix.clear()
    assert_free(engine)


def test_answers_that_are_under_way_end_while_it_waits_for_their_slots(made) -> None:
    engine = made(FEW, slots=8)
    expected = engine.propose(CONTEXT, SHORT, STOP, width=8, most=10)
    assert expected
    alone = engine.generate(Request(CONTEXT[:9], GREEDY, 20, frozenset())).read()[0]
    running = [engine.generate(Request(CONTEXT[:9], GREEDY, 20, frozenset())) for _ in range(3)]
    next(running[0])
    found = engine.propose(CONTEXT, SHORT, STOP, width=8, most=10)
    assert [one.text for one in found] == [one.text for one in expected]
    first, *others = [one.read()[0] for one in running]
    assert first == alone[1:]
    assert others == [alone, alone]
    assert_free(engine)


def test_what_cannot_be_searched_is_refused(made) -> None:
    engine = made(pages=60, slots=8)
    for context, stop, more, error, words in (
        ([], STOP, {}, RequestError, "context is empty"),
        ([1], 97, {}, RequestError, "stop: token 0 is 97"),
        ([1], STOP, {"width": 0}, RequestError, "0 beams"),
        ([1], STOP, {"most": 0}, RequestError, "0 tokens"),
        ([1], STOP, {"power": -1.0}, RequestError, "power -1"),
        ([1] * 500, STOP, {"most": 14}, RequestError, "more than the context of 512"),
        ([1] * 400, STOP, {"width": 8}, CapacityError, "98 pages of 8, the caches have 8 and 60"),
    ):
        with pytest.raises(error, match=words):
            engine.propose(context, EXCERPT, stop, **more)
    with pytest.raises(RequestError, match="no text"):
        engine.propose([1], "\ud800", STOP)
    with pytest.raises(CapacityError, match="9 beams need as many slots"):
        Wanted(Short(3), str, STOP, 9, 9).check(engine.memory, 1)
    with pytest.raises(RequestError, match="1 to 256 beams"):
        Wanted(Short(3), str, STOP, 257, 9).check(engine.memory, 1)
    few = made(FEW, slots=8)
    assert few.propose(CONTEXT, SHORT, STOP, width=30, most=12) == few.propose(
        CONTEXT, SHORT, STOP, width=8, most=12
    )
    assert_free(engine)


def test_it_can_be_cancelled_and_a_broken_model_is_told(made, tiny, monkeypatch) -> None:
    engine = made()
    cancelled = threading.Event()
    cancelled.set()
    with pytest.raises(CancelledError):
        engine.propose(CONTEXT, EXCERPT, STOP, cancelled=cancelled)
    assert_free(engine)
    beams = Beams(
        lambda runs: np.full((len(runs), 97), np.nan, np.float32),
        Words(Lines(), 97),
        Wanted(Short(3), str, STOP, 3, 9),
    )
    with pytest.raises(EngineError, match="no numbers"):
        engine._drive(beams.steps(engine._computed([1], False, None), 2), beams.close, None)
    assert_free(engine)


def test_without_a_tokenizer_there_is_no_text_to_propose(tiny) -> None:
    with pytest.raises(RequestError, match="needs a tokenizer"):
        Engine(tiny, Caches(pages=64, slots=8, page=8, ram=0)).propose(CONTEXT, EXCERPT, STOP)
