"""Pictures in prompts: chunked = whole, together = alone, from the cache = fresh; what can't be seen is refused."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("PIL")

from hypothesis import HealthCheck, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from engine.errors import RequestError  # noqa: E402
from engine.generate import sight  # noqa: E402
from engine.generate.sample import Sampling  # noqa: E402
from engine.generate.sequence import Request  # noqa: E402

PLACEHOLDER = 90


def shown(engine, *parts, **more) -> Request:
    """A request whose prompt has `parts`: token ids, or a file's bytes."""
    prompt: list[int] = []
    images = []
    for part in parts:
        if isinstance(part, bytes):
            picture = engine.picture(part)
            images.append((len(prompt), picture))
            prompt += [PLACEHOLDER] * picture.tokens
        else:
            prompt += part
    return Request(prompt, Sampling(0, logprobs=0), 4, frozenset(), images=tuple(images), **more)


def told(engine, *parts, **more) -> tuple[list[float], int]:
    """Log-likelihoods of the answer's tokens, and how many of the prompt's came from the cache."""
    *pieces, finish = engine.generate(shown(engine, *parts, **more))
    assert finish.reason == "length"
    return [piece.logprob.token for piece in pieces], finish.usage.cached


def same(one: list[float], two: list[float]) -> None:
    torch.testing.assert_close(torch.tensor(one), torch.tensor(two), rtol=1e-4, atol=1e-4)


def test_a_picture_is_its_embeddings(engine, seeing, png) -> None:
    made = engine(model=seeing)
    data = png(90, 60)
    picture = made.picture(data)
    assert picture.tokens == 12
    (rows,) = seeing.see([picture.canvas])
    prompt = [3, 1, *[PLACEHOLDER] * 12, 4]
    given_ = Request(prompt, Sampling(0, logprobs=0), 4, frozenset(), images=((2, rows),))
    *pieces, _ = made.generate(given_)
    same(told(made, [3, 1], data, [4])[0], [piece.logprob.token for piece in pieces])
    other = told(made, [3, 1], png(90, 60, seed=1), [4])[0]
    assert abs(other[0] - pieces[0].logprob.token) > 1e-3


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sizes=st.lists(st.tuples(st.integers(1, 150), st.integers(1, 90)), min_size=1, max_size=3),
    budget=st.integers(4, 20),
    text=st.integers(0, 9),
)
def test_in_chunks_is_as_a_whole(engine, seeing, png, sizes, budget: int, text: int) -> None:
    parts: list = [[5] * text]
    for number, (width, height) in enumerate(sizes):
        parts += [png(width, height, number), [7] * (text % 3)]
    parts.append([2])
    whole, _ = told(engine(model=seeing, budget=256), *parts)
    cut, _ = told(engine(model=seeing, budget=budget), *parts)
    same(cut, whole)


def test_together_is_alone(engine, seeing, png, monkeypatch) -> None:
    prompts = [([n], png(60 + 30 * n, 40, n % 2), [8], png(28, 28, n)) for n in range(4)]
    alone = [told(engine(model=seeing), *parts)[0] for parts in prompts]
    for tokens in (sight.TOKENS, 3):  # many pictures a pass, one a pass
        monkeypatch.setattr(sight, "TOKENS", tokens)
        made = engine(model=seeing)
        answers = [made.generate(shown(made, *parts)) for parts in prompts]
        for answer, expected in zip(answers, alone, strict=True):
            same(
                [event.logprob.token for event in answer if hasattr(event, "token")],
                expected,
            )
        assert made.memory.free_pages == 64


def test_from_the_cache_is_fresh_and_looks_at_nothing_again(engine, seeing, png, monkeypatch) -> None:
    made = engine(model=seeing, ram=1 << 22)
    first = png(90, 60)
    fresh, cached = told(made, [3, 1], first, [4, 9])
    assert cached == 0
    looked = []
    see = type(seeing).see
    monkeypatch.setattr(type(seeing), "see", lambda self, all_: looked.append(len(all_)) or see(self, all_))
    again, cached = told(made, [3, 1], first, [4, 9])
    assert cached == 15
    assert not looked
    same(again, fresh)
    more, cached = told(made, [3, 1], first, [4, 9], png(30, 30, 5), [6])
    assert cached >= 15
    assert looked == [1]
    same(more, told(engine(model=seeing), [3, 1], first, [4, 9], png(30, 30, 5), [6])[0])


def test_pictures_of_other_content_are_not_taken_for_each_other(engine, seeing, png) -> None:
    made = engine(model=seeing, ram=1 << 22)
    told(made, [3, 1], png(90, 60), [4, 9])
    other, cached = told(made, [3, 1], png(90, 60, seed=1), [4, 9])
    assert cached <= 2
    same(other, told(engine(model=seeing), [3, 1], png(90, 60, seed=1), [4, 9])[0])


def test_a_prompt_that_was_thrown_out_looks_again(engine, seeing, png) -> None:
    parts = [([n], png(100, 90, n), [8, n]) for n in range(3)]
    alone = [told(engine(model=seeing), *part)[0] for part in parts]
    made = engine(model=seeing, pages=7, page=4, budget=8)
    answers = [made.generate(shown(made, *part)) for part in parts]
    for answer, expected in zip(answers, alone, strict=True):
        same([event.logprob.token for event in answer if hasattr(event, "token")], expected)


def test_embeddings_are_let_go(engine, seeing, png) -> None:
    made = engine(model=seeing, budget=8)
    answer = made.generate(shown(made, [1], png(90, 60), [2], png(90, 60, 1), [3] * 9))
    (sequence,) = made.scheduler.waiting
    most = 0
    while sequence.finish is None:
        made.scheduler.step()
        most = max(most, len(sequence.seen))
    assert most in (1, 2)
    assert not sequence.seen
    assert len(list(answer)) == 5


def test_what_cannot_be_seen_is_refused(engine, tiny, seeing, png) -> None:
    blind, made = engine(model=tiny), engine(model=seeing)
    with pytest.raises(RequestError, match="reads text alone"):
        blind.picture(png(9, 9))
    with pytest.raises(RequestError, match="damaged"):
        made.picture(png(99, 99)[:500])
    picture = made.picture(png(90, 60))
    twelve = [PLACEHOLDER] * 12
    for prompt, row, words in (
        ([1, *twelve], 0, r"image at 0: the prompt needs 12 placeholders \(90\)"),
        ([1, *twelve[:-1]], 1, "leave the prompt"), ([1, *twelve, 90], 1, "token 13 is a placeholder"),
        ([1, *twelve, 2, 90, 2], 1, "token 14 is a placeholder"),
    ):  # fmt: skip
        with pytest.raises(RequestError, match=words):
            made.generate(Request(prompt, max_tokens=1, images=((row, picture),)))
    with pytest.raises(RequestError, match="reads text alone"):
        blind.generate(Request([1, *twelve], max_tokens=1, images=((1, picture),)))
    with pytest.raises(RequestError, match="overlap"):
        made.generate(Request([*twelve, 1], max_tokens=1, images=((0, picture), (1, picture))))
    assert made.scheduler.idle
