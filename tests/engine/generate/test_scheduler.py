"""Requests together: nobody's answer depends on the others, on memory or on cuts; nothing is lost or kept too long."""

from __future__ import annotations

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from engine.errors import CapacityError, EngineError, RequestError  # noqa: E402
from engine.generate.sample import GREEDY, Sampling  # noqa: E402
from engine.generate.sequence import Finish, Request  # noqa: E402
from engine.generate.stop import Stops  # noqa: E402
from engine.generate.thinking import Thinking  # noqa: E402

PROMPTS = [
    [(a * n * n + n) % 96 for n in range(length)] for a, length in ((3, 30), (5, 7), (11, 90), (13, 1))
]
SAMPLED = [Sampling(temperature=0.8, top_p=0.9, seed=number) for number in range(4)]


def requests(**options) -> list[Request]:
    return [
        Request(prompt, sampling, max_tokens=9, stop_tokens=frozenset(), **options)
        for prompt, sampling in zip(PROMPTS, SAMPLED, strict=True)
    ]


def alone(engine, asked) -> list[list[int]]:
    made = engine()
    return [made.generate(request).read()[0] for request in asked]


def assert_empty(made) -> None:
    assert (made.memory.free_pages, made.memory.free_slots) == (made.memory.pages, made.memory.slots)


@pytest.fixture(scope="module")
def expected(tiny):
    from engine.api import Caches, Engine

    made = Engine(tiny, Caches(64, page=8, ram=0))
    return [made.generate(request).read()[0] for request in requests(speculated=False)]


@pytest.mark.parametrize("budget", [5, 64])
def test_together_is_alone(engine, expected, budget) -> None:
    made = engine(budget=budget)
    answers = [made.generate(request) for request in requests(speculated=False)]
    assert [answer.read()[0] for answer in answers] == expected
    assert_empty(made)


@pytest.mark.parametrize("ram", [0, 1 << 24])
def test_preempted_is_undisturbed(engine, ram) -> None:
    """Three answers that grow to four pages each, in nine; with a prefix cache what was computed isn't again."""
    asked = [
        Request([number, 7, 9], sampling, 26, frozenset()) for number, sampling in enumerate(SAMPLED[:3])
    ]
    made = engine(pages=9, ram=ram)
    answers = [made.generate(request) for request in asked]
    preempted = []
    preempt = made.scheduler._preempt
    made.scheduler._preempt = lambda sequence: (preempted.append(sequence.number), preempt(sequence))
    assert [answer.read()[0] for answer in answers] == alone(engine, asked)
    assert preempted
    assert 0 not in preempted, "the oldest always goes on"
    if made.prefix is not None:
        made.prefix.clear()
    assert_empty(made)


def test_more_requests_than_slots_wait(engine, expected) -> None:
    made = engine(slots=1)
    answers = [made.generate(request) for request in requests()]
    assert [answer.read()[0] for answer in reversed(answers)] == expected[::-1]


def test_speculation_changes_nothing(engine) -> None:
    """Answers that repeat themselves, as tokens once said are made likelier; greedy and drawn."""
    ways = (Sampling(0, frequency=-9), Sampling(0.9, frequency=-2, repetition=1.1, seed=1))
    ask = [Request(PROMPTS[0], sampling, 30, frozenset()) for sampling in ways]
    plain = [Request(one.prompt, one.sampling, 30, frozenset(), speculated=False) for one in ask]
    drafted = engine()
    answers = [drafted.generate(request) for request in ask]
    read = [answer.read() for answer in answers]
    assert [tokens for tokens, _, _ in read] == alone(engine, plain)
    for _, _, finish in read:
        assert 0 < finish.usage.accepted <= finish.usage.drafted
    assert_empty(drafted)


def test_drafts_that_hold_and_drafts_that_do_not(engine, tiny) -> None:
    """Whatever is drafted, the answer is the plain one; right drafts are accepted, wrong ones taken back."""
    prompt, length = PROMPTS[0], 20
    plain = engine().generate(Request(prompt, GREEDY, length, frozenset(), speculated=False)).read()[0]

    class Oracle:
        def __init__(self, tokens, wrong):
            self.tokens, self.wrong = tokens, wrong

        def draft(self, most):
            at = len(self.tokens) - len(prompt)
            drafts = plain[at : at + min(most, 5)]
            return [(token + 1) % 96 if at + n in self.wrong else token for n, token in enumerate(drafts)]

        def judge(self, drafted, accepted):
            pass

    for wrong in (set(), {3, 4, 11}, set(range(length))):
        made = engine()
        answer = made.generate(Request(prompt, GREEDY, length, frozenset()))
        answer._sequence.lookup = Oracle(answer._sequence.tokens, wrong)
        tokens, _, finish = answer.read()
        assert tokens == plain
        assert (finish.usage.accepted == finish.usage.drafted) == (not wrong)
        assert (finish.usage.accepted > 0) == (len(wrong) < length)
        assert_empty(made)


def test_ends(engine, letters) -> None:
    made = engine()
    tokens, text, finish = made.generate(Request(PROMPTS[0], GREEDY, 30, frozenset())).read()
    assert (finish.reason, finish.usage.prompt, finish.usage.answer) == ("length", 30, 30)
    fresh = next(n for n in range(3, 30) if tokens[n] not in tokens[:n])
    cut, part, finish = made.generate(Request(PROMPTS[0], GREEDY, 30, frozenset({tokens[fresh]}))).read()
    assert (cut, finish.reason) == (tokens[: fresh + 1], "stop")
    assert text.startswith(part)
    word = text[4:7]
    _, part, finish = made.generate(Request(PROMPTS[0], GREEDY, 30, frozenset(), Stops([word]))).read()
    assert (part, finish.stop, finish.reason) == (text[: text.index(word)], word, "stop")


def test_text_waits_for_whole_characters(engine, letters) -> None:
    from engine.generate.text import TextStream

    stream = TextStream(letters, Stops([]))
    assert [stream.feed(token) for token in (33, 94, 95, 94, 34)] == ["A", "", "é", "", "\ufffdB"]
    assert stream.feed(94) + stream.rest() == "\ufffd"


def test_cancelled_gives_back_and_leaves_the_others(engine, expected) -> None:
    made = engine()
    answers = [made.generate(request) for request in requests(speculated=False)]
    next(answers[1])
    next(answers[0])
    answers[1].cancel()
    answers[1].cancel()
    last = list(answers[1])[-1]
    assert isinstance(last, Finish)
    assert last.reason == "cancelled"
    del answers[2]  # unread: given up
    assert answers[0].read()[0] == expected[0][1:]
    assert answers[2].read()[0] == expected[3]
    assert_empty(made)


def test_logprobs_are_told(engine) -> None:
    made = engine()
    pieces = list(made.generate(Request(PROMPTS[0], Sampling(0, logprobs=3), 4, frozenset())))[:-1]
    for piece in pieces:
        assert piece.logprob.best[0] == (piece.token, piece.logprob.token)
        assert len(piece.logprob.best) == 3
    scores = made.score(PROMPTS[0], [[piece.token for piece in pieces]])
    torch.testing.assert_close(
        torch.tensor(scores[0].tokens), torch.tensor([p.logprob.token for p in pieces]), rtol=1e-4, atol=1e-4
    )


def test_images_stand_where_they_were_put_in_any_cut(engine, tiny) -> None:
    image = torch.randn(11, tiny.config.hidden, generator=torch.Generator().manual_seed(1))
    found = []
    for budget, pictures in ((4, ((9, image),)), (64, ((9, image),)), (64, ((9, -image),)), (64, ())):
        made = engine(budget=budget)
        request = Request(PROMPTS[0], Sampling(0, logprobs=0), 5, frozenset(), images=pictures)
        found.append([piece.logprob.token for piece in list(made.generate(request))[:-1]])
    torch.testing.assert_close(torch.tensor(found[0]), torch.tensor(found[1]), rtol=1e-4, atol=1e-4)
    assert abs(found[1][0] - found[2][0]) > 1e-3
    assert abs(found[1][0] - found[3][0]) > 1e-3


@pytest.mark.parametrize(
    ("request_", "error", "words"),
    [
        (Request([]), RequestError, "prompt is empty"),
        (Request([1, 97]), RequestError, "token 1 is 97; the model knows 0 to 96"),
        (Request([-1]), RequestError, "token 0 is -1"),
        (Request([1, "a"]), RequestError, "token 1 is 'a', not a number"),
        (Request([1] * 512), RequestError, "512 tokens leaves no room in a context of 512"),
        (Request([1] * 500, max_tokens=13), RequestError, "500 tokens of prompt and 13 of answer"),
        (Request([1] * 400, max_tokens=90), CapacityError, "more than the 56 pages of 8 tokens"),
        (Request([1] * 450), CapacityError, "450 tokens of prompt and 1 of answer"),
        (Request([1], max_tokens=0), RequestError, "max_tokens is 0"),
        (Request([1], stop_tokens=frozenset({97})), RequestError, "stop token 97"),
        (Request([1], thinking=Thinking((1,), (97,), 0)), RequestError, "thinking ends: token 0 is 97"),
        (Request([1], thinking=Thinking((1,), (), 0)), RequestError, "thinking ends is empty"),
        (Request([1], thinking=Thinking((), (2,), 0)), RequestError, "thinking starts is empty"),
        (Request([1, 2], images=((1, torch.zeros(2, 64)),)), RequestError, "leave the prompt"),
        (Request([1, 2], images=((0, torch.zeros(1, 63)),)), RequestError, r"\(1, 63\), not \[n, 64\]"),
    ],
)
def test_what_cannot_be_served_is_refused_before_it_runs(engine, request_, error, words) -> None:
    made = engine(pages=56)
    with pytest.raises(error, match=words):
        made.generate(request_)
    assert made.scheduler.idle
    assert_empty(made)


def test_a_failed_pass_ends_its_requests_and_the_next_one_works(engine, expected) -> None:
    made = engine(ram=1 << 20)
    working = made.scheduler.steps

    class Broken:
        def forward(self, batch):
            raise RuntimeError("out of memory")

    answer = made.generate(requests()[0])
    made.scheduler.steps = Broken()
    with pytest.raises(EngineError, match="RuntimeError: out of memory"):
        answer.read()
    made.scheduler.steps = working
    assert_empty(made)
    assert made.generate(requests()[0]).read()[0] == expected[0]


def test_nothing_leaks_over_many_requests(engine) -> None:
    made = engine(pages=20, slots=3, ram=1 << 16)
    for number in range(24):
        answer = made.generate(
            Request([number, 1, 2] * (1 + number % 5), SAMPLED[number % 4], 1 + number % 3)
        )
        if number % 3:
            answer.read()
        else:
            answer.cancel()
    made.prefix.clear()
    assert_empty(made)


@pytest.mark.parametrize("pages", [64, 9])
def test_replayed_steps_answer_as_the_model_does(engine, tiny, pages) -> None:
    """Requests that come and go, also where pages run out and the indexer begins to choose: the same tokens."""
    pytest.importorskip("kernels.cpu._native")
    from kernels.dispatch import select

    ops = select()
    replays = []

    def capture(step):
        captured = ops.capture(step)
        replay = captured.replay
        captured.replay = lambda: (replays.append(1), replay())[1]
        return captured

    answers = []
    for chosen in (replace(ops, capture=capture), replace(ops, capture=None)):
        made = engine(pages=pages, model=replace(tiny, ops=chosen))
        asked = [
            Request([n, 7, 9], sampling, 26, frozenset(), speculated=n == 0)
            for n, sampling in enumerate(SAMPLED)
        ]
        answers.append([answer.read()[0] for answer in [made.generate(request) for request in asked]])
        assert_empty(made)
    assert answers[0] == answers[1]
    assert len(replays) >= 16


def test_without_kernels_for_a_dtype_no_step_is_lost(engine, tiny) -> None:
    """Steps that can't be replayed are computed once, by the reference."""
    pytest.importorskip("kernels.cpu._native")
    from kernels.dispatch import REFERENCE, select

    ops = replace(REFERENCE, capture=select().capture)
    unseen = replace(ops, linear=_refused(REFERENCE.linear))
    request = Request(PROMPTS[0], SAMPLED[0], 9, frozenset())
    made = [
        engine(model=replace(tiny, ops=chosen)).generate(request).read()[0] for chosen in (unseen, REFERENCE)
    ]
    assert made[0] == made[1]


def _refused(reference):
    """As dispatch does for a dtype without a kernel: the kernel refuses, the reference computes."""
    from kernels.dispatch import select

    def linear(*tensors):
        half = torch.zeros(1, 4, dtype=torch.float16)
        select().linear(half, half)
        return reference(*tensors)

    return linear
