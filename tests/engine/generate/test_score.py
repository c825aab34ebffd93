"""Scores: those of scoring each continuation whole, whatever they share and however little memory there is."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from engine.api import Caches, Engine  # noqa: E402
from engine.errors import CapacityError, RequestError  # noqa: E402
from engine.generate.sample import GREEDY  # noqa: E402
from engine.generate.sequence import Request  # noqa: E402
from engine.generate.trie import branches, folded  # noqa: E402

CONTEXT = [(3 * n * n + n) % 96 for n in range(45)]
LISTS = st.lists(st.lists(st.integers(0, 2), max_size=9), max_size=9)


def whole(model, context, continuation) -> list[float]:
    """Log-likelihoods from one pass over everything."""
    from engine.cache.pages import History, Memory
    from engine.cache.pools import Pools
    from engine.generate.flat import Run, flat

    tokens = [*context, *continuation]
    memory = Memory(Pools.allocate(model.config, 16, 1, page=16), 16, 1)
    history = History(memory)
    history.reserve(len(tokens))
    logits = model.forward(flat([Run(history, tokens)], torch.device("cpu")), memory.pools).log_softmax(-1)
    at = len(context)
    return [logits[at + n - 1, token].item() for n, token in enumerate(continuation)]


def assert_whole(model, context, continuations, scores) -> None:
    assert len(scores) == len(continuations)
    for continuation, score in zip(continuations, scores, strict=True):
        expected = whole(model, context, continuation)
        torch.testing.assert_close(torch.tensor(score.tokens), torch.tensor(expected), rtol=1e-4, atol=1e-4)
        assert abs(score.total - sum(expected)) < 1e-3


@settings(max_examples=6, deadline=None)
@given(
    continuations=LISTS,
    slots=st.integers(1, 3),
    page=st.sampled_from([3, 8]),
    budget=st.sampled_from([1, 4, 64]),
    ram=st.sampled_from([0, 1 << 20]),
)
def test_scores_are_those_of_each_whole(tiny, continuations, slots, page, budget, ram) -> None:
    engine = Engine(tiny, Caches(pages=64, slots=slots, page=page, ram=ram), budget=budget)
    assert_whole(tiny, CONTEXT, continuations, engine.score(CONTEXT, continuations))
    if engine.prefix is not None:
        engine.prefix.clear()
    assert (engine.memory.free_pages, engine.memory.free_slots) == (64, slots)


@given(continuations=LISTS, most=st.integers(1, 5))
def test_a_tree_of_branches_spells_every_continuation_once(continuations, most) -> None:
    spelled = {}
    todo = [([], way) for way in branches(continuations, most)]
    beginnings = set()
    count = 0
    while todo:
        path, branch = todo.pop()
        assert 0 < len(branch.tokens) <= most
        path = [*path, *branch.tokens]
        beginnings |= {tuple(path[: len(path) - n]) for n in range(len(branch.tokens))}
        count += len(branch.tokens)
        for number in branch.ends:
            assert number not in spelled
            spelled[number] = path
        todo += [(path, way) for way in branch.ways]
    assert spelled == {number: one for number, one in enumerate(continuations) if one}
    assert count == len(beginnings), "what is shared is there once"


@given(continuations=LISTS, most=st.integers(1, 9), again=st.integers(0, 9))
def test_fewer_generations_spell_the_same_and_compute_little_again(continuations, most, again) -> None:
    def spelled(roots) -> tuple[dict[int, list[int]], int, int]:
        """Continuations, tokens, generations."""
        found, count, deepest, todo = {}, 0, 0, [([], root, 1) for root in roots]
        while todo:
            path, branch, depth = todo.pop()
            assert 0 < len(branch.tokens) <= most
            path = [*path, *branch.tokens]
            count, deepest = count + len(branch.tokens), max(deepest, depth)
            for number in branch.ends:
                assert number not in found
                found[number] = path
            todo += [(path, way, depth + 1) for way in branch.ways]
        return found, count, deepest

    plain = spelled(branches(continuations, most))
    fewer = spelled(folded(branches(continuations, most), again, most))
    assert fewer[0] == plain[0]
    assert plain[1] <= fewer[1] <= plain[1] + again * plain[2]
    assert fewer[2] <= plain[2]


def test_short_answers_take_one_pass(engine) -> None:
    made = engine(budget=256, slots=16)
    passes = []

    class Counting:
        config, weights, dtype = made.model.config, made.model.weights, made.model.dtype

        def forward(self, batch, pools, forward=made.model.forward):
            passes.append(len(batch.tokens))
            return forward(batch, pools)

        def loglik(self, batch, *more, loglik=made.model.loglik):
            passes.append(len(batch.tokens))
            return loglik(batch, *more)

    made.model = Counting()
    made.score(CONTEXT, [[1, 2, 3], [1, 2, 4], [1, 5], [6], [6, 7]])
    assert passes == [len(CONTEXT) - 1, 3 + 3 + 2 + 2 + 1]


def test_each_beginning_is_computed_once(engine) -> None:
    made = engine(ram=1 << 20, budget=32)
    rows = []

    class Counting:
        config, weights, dtype = made.model.config, made.model.weights, made.model.dtype

        def forward(self, batch, pools, forward=made.model.forward):
            rows.append(len(batch.tokens))
            return forward(batch, pools)

        def loglik(self, batch, *more, loglik=made.model.loglik):
            rows.append(len(batch.tokens))
            return loglik(batch, *more)

    made.model = Counting()
    shared = list(range(20))
    continuations = [[*shared, n, n + 1] for n in range(30)]
    made.score(CONTEXT, continuations)
    assert sum(rows) == len(CONTEXT) + 20 + 30
    rows.clear()
    made.score(CONTEXT, continuations)
    assert sum(rows) == 1 + 20 + 30, "the context is known"


def test_thousands_nested_in_each_other(engine, tiny) -> None:
    """Deeper than Python's calls nest."""
    continuations = [[1] * length for length in range(1, 1500)]
    assert sum(1 for _ in branches(continuations, 1)) == 1
    made = engine(slots=1)
    scores = made.score([4], [[1] * length for length in range(1, 40)])
    longest = scores[-1].tokens
    for score in scores:
        assert score.tokens == pytest.approx(longest[: len(score.tokens)], abs=1e-4)


def test_answers_go_on_while_scores_wait_for_memory(engine, tiny) -> None:
    made = engine(pages=16, slots=2)
    request = Request(CONTEXT, GREEDY, 30, frozenset())
    plain = made.generate(request).read()[0]
    answers = [made.generate(request) for _ in range(2)]
    first = [next(answer).token for answer in answers]  # now both slots are taken
    continuations = [[5, 6, 7], [5, 6, 8], [9]]
    assert_whole(tiny, CONTEXT, continuations, made.score(CONTEXT, continuations))
    assert [[token, *answer.read()[0]] for token, answer in zip(first, answers, strict=True)] == [
        plain,
        plain,
    ]


def test_memory_that_nobody_gives_back_is_an_error_and_no_wait(engine) -> None:
    made = engine(pages=30)
    held = made.memory.take(28)
    waiting = made.generate(Request(CONTEXT[:40], GREEDY, 30, frozenset()))
    with pytest.raises(CapacityError, match=r"2 of 30 pages .* are free, and no running request"):
        made.score(CONTEXT, [[1, 2]])
    made.memory.drop(held)
    assert len(made.score(CONTEXT, [[1, 2]])) == 1
    assert waiting.read()[2].usage.answer == 30


def test_a_score_can_be_cancelled(engine) -> None:
    import threading

    from engine.errors import CancelledError

    made = engine()
    cancelled = threading.Event()
    cancelled.set()
    for work in (
        lambda: made.score(CONTEXT, [[1]], cancelled=cancelled),
        lambda: made.embed([[1]], cancelled=cancelled),
    ):
        with pytest.raises(CancelledError):
            work()
    assert (made.memory.free_pages, made.memory.free_slots) == (64, 4)


def test_what_cannot_be_scored_is_refused(engine) -> None:
    made = engine(pages=20)
    for context, continuations, error, words in (
        ([], [[1]], RequestError, "context is empty"),
        ([1], [[1], [97]], RequestError, "continuation 1: token 0 is 97"),
        ([1] * 500, [[1] * 13], RequestError, "513 tokens are more than the context of 512"),
        ([1] * 150, [[1] * 13], CapacityError, "163 tokens need 22 pages of 8, the caches have 20"),
    ):
        with pytest.raises(error, match=words):
            made.score(context, continuations)
    assert made.score([1], []) == []
    assert made.score([1], [[]])[0].total == 0


def test_vectors_do_not_depend_on_company_or_cuts(engine) -> None:
    texts = [CONTEXT, CONTEXT[:5], [7], CONTEXT[3:40], CONTEXT]
    vectors = engine(budget=64).embed(texts)
    torch.testing.assert_close(vectors.norm(dim=1), torch.ones(5))
    torch.testing.assert_close(engine(budget=7, slots=1, pages=8).embed(texts), vectors, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(engine().embed([texts[3]])[0], vectors[3], rtol=1e-4, atol=1e-4)
    assert vectors[0] @ vectors[2] < 0.99
    with pytest.raises(RequestError, match="text 1 is empty"):
        engine().embed([[1], []])
    assert engine().embed([]).shape == (0, 64)
