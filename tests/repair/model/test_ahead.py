"""The order that a model and the priors agree on; judges are scripted, the candidates real."""

from __future__ import annotations

import itertools
import threading

from deskagent.repair.model.ahead import AT_ONCE, MOST_WAITING, Ahead
from deskagent.repair.model.judge import failure_of
from deskagent.repair.model.weights import Weights
from deskagent.repair.rank import iter_candidates, iter_ranked
from deskagent.repair.source import SourceFile
from deskagent.repair.types import Baseline, Outcome, Suspect, TestResult

CODE = "\n".join(f"def f{i}(a, b):\n    c = a < b\n    return c\n" for i in range(8)).encode()
SUSPECTS = [Suspect("x.py", 4 * i + 2, 1.0 - i / 10) for i in range(8)]
WEIGHTS = Weights(1.0, 1.0, 0.0, 0.0)


def read(path: str) -> SourceFile:
    return SourceFile.from_bytes(path, CODE)


def ahead(judge, weights: Weights = WEIGHTS) -> Ahead:
    return Ahead(iter_ranked(read, SUSPECTS), judge, weights, "E assert 1 == 2", "wrong")


def text_of(candidate) -> str:
    return read("x.py").apply(candidate.edits).decode()


def test_without_a_difference_in_opinion_the_order_is_that_of_the_priors(scripted) -> None:
    stream = ahead(scripted(lambda text: -3.0))
    made = []
    for _ in range(150):
        made.append(next(stream).key)
        stream.settle()
    stream.close()
    assert made == [c.key for c in itertools.islice(iter_candidates(read, SUSPECTS), 150)]


def test_what_the_model_holds_likely_comes_next(scripted) -> None:
    by_priors = [text_of(c) for c in itertools.islice(iter_candidates(read, SUSPECTS), AT_ONCE)]
    wanted = by_priors[11]
    stream = ahead(scripted(lambda text: 9.0 if text in wanted else -1.0))
    assert text_of(next(stream)) == by_priors[0], "nobody waits for the model"
    stream.settle()
    assert text_of(next(stream)) == wanted
    assert text_of(next(stream)) == by_priors[1]
    stream.close()


def test_every_candidate_comes_once_whatever_the_model_says(scripted) -> None:
    stream = ahead(scripted(lambda text: float(hash(text) % 7)))
    made = [c.key for c in stream]
    stream.close()
    assert sorted(made) == sorted(c.key for c in iter_candidates(read, SUSPECTS))


def test_a_question_holds_an_excerpt_and_what_is_known(scripted) -> None:
    judge = scripted(lambda text: -1.0)
    stream = ahead(judge)
    next(stream)
    stream.settle()
    stream.close()
    assert judge.asked
    seen = set()
    for asked, after in judge.asked:
        name = asked.excerpt.partition("(")[0]
        assert asked.excerpt == f"{name}(a, b):\n    c = a < b\n    return c"
        assert (asked.path, asked.failure, asked.request) == ("x.py", "E assert 1 == 2", "wrong")
        assert (after[0] == asked.excerpt) == (asked.excerpt not in seen), "leaving it as it is, asked once"
        seen.add(asked.excerpt)
        assert all(text != asked.excerpt and text.startswith(name) for text in after[1:])


def test_a_model_that_dies_leaves_the_search_its_priors(scripted) -> None:
    stream = ahead(scripted(lambda text: -1.0, lives=1))
    made = [next(stream).key]
    stream.settle()
    for _ in range(MOST_WAITING):
        made.append(next(stream).key)
    stream.settle()
    made += [c.key for c in stream]
    stream.close()
    assert sorted(made) == sorted(c.key for c in iter_candidates(read, SUSPECTS))
    assert stream.given_up() == "The model answers no more: it was killed"
    assert stream.given_up() == "", "it is said once"


def test_one_that_never_answers_changes_nothing(scripted) -> None:
    stream = ahead(scripted(lambda text: -1.0, lives=0))
    made = [c.key for c in stream]
    stream.close()
    assert made == [c.key for c in iter_candidates(read, SUSPECTS)]


def test_of_a_failure_the_asserted_lines_are_told() -> None:
    pytest_says = (
        "self = <T>\n\n    def test():\n>       assert f(1) == 2\nE       assert 1 == 2\n\nt.py:3: Error"
    )
    results = tuple(TestResult("t", Outcome.FAILED, 0.0, text) for text in (pytest_says, "other"))
    assert failure_of(Baseline(results, {}, 1.0)) == "> assert f(1) == 2\nE assert 1 == 2"
    assert failure_of(Baseline(results[1:], {}, 1.0)) == "other"
    assert failure_of(Baseline((), {}, 1.0)) == failure_of(None) == ""


def test_the_model_is_not_asked_about_what_was_tried_meanwhile(scripted) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def slow(text: str) -> float:
        asked.set()
        go_on.wait(60)
        return -1.0

    judge = scripted(slow)
    stream = ahead(judge)
    tried = [next(stream)]
    assert asked.wait(60)
    first = set(judge.asked[0][1])
    tried += [next(stream) for _ in range(60)]
    go_on.set()
    stream.settle()
    stream.close()
    told = {text for _, after in judge.asked[1:] for text in after} - first
    tried_on = {"def " + part.rstrip() for one in tried for part in text_of(one).split("def ")}
    before = {"def " + part.rstrip() for part in CODE.decode().split("def ")}
    assert told - before
    assert not (told & tried_on) - before


def test_whatever_goes_wrong_in_the_asking_the_search_goes_on_and_it_is_said(scripted) -> None:
    def broken(text: str) -> float:
        raise KeyError("no such token")

    stream = ahead(scripted(broken))
    made = [next(stream).key]
    stream.settle()
    assert "KeyError" in stream.given_up()
    made += [c.key for c in stream]
    assert made == [c.key for c in iter_candidates(read, SUSPECTS)]
