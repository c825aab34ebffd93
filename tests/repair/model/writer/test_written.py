"""A model's own edits among the others; the model is scripted, the candidates are real."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import pytest

from deskagent.repair.model.both import Both
from deskagent.repair.model.excerpt import shown
from deskagent.repair.model.judge import Asked, Gone, Opinion
from deskagent.repair.model.weights import Weights
from deskagent.repair.model.writer.answer import Answer, Writer
from deskagent.repair.model.writer.edit import OPERATOR
from deskagent.repair.model.writer.written import EVERY, WIDTHS, Written
from deskagent.repair.rank import iter_candidates, iter_ranked
from deskagent.repair.source import SourceFile
from deskagent.repair.types import Candidate, Suspect

CODE = "\n".join(f"def f{i}(a, b):\n    c = a < b\n    return c\n" for i in range(4)).encode()
SUSPECTS = [Suspect("x.py", 4 * i + 2, 1.0 - i / 10) for i in range(4)]
WEIGHTS = Weights(1.0, 1.0, 0.0, 0.0)
Says = Callable[[Asked, int], list[Answer]]


class Scripted:
    def __init__(self, says: Says) -> None:
        self.says = says
        self.asked: list[tuple[Asked, int]] = []

    def proposals(self, asked: Asked, width: int) -> list[Answer]:
        self.asked.append((asked, width))
        return self.says(asked, width)


def lines(asked: Asked, width: int) -> list[Answer]:
    """Three edits that no table makes, the likeliest first."""
    return [
        Answer(asked.excerpt.replace("a < b", f"(a, b, {n}) < (b, a)"), Opinion(-1.0 - n, 9))
        for n in range(3)
    ]


def read(path: str) -> SourceFile:
    return SourceFile.from_bytes(path, CODE)


@pytest.fixture
def start():
    begun: list[Written] = []

    def make(says: Says = lines, **more) -> tuple[Written, Scripted, list[Candidate]]:
        """What it hands out, once the model has answered to all."""
        scripted = Scripted(says)
        source = Written(scripted, WEIGHTS, "E assert 1 == 2", "wrong", **({"patience": 60.0} | more))
        begun.append(source)
        ranked = list(source.watch(iter_ranked(read, SUSPECTS)))
        source.settle()
        return source, scripted, list(source.among(one.candidate for one in ranked))

    yield make
    for source in begun:
        source.close()


def test_every_fourth_is_the_models_own_and_the_others_keep_their_order(start) -> None:
    source, _, found = start()
    own = [number for number, one in enumerate(found) if one.operator == OPERATOR]
    assert own == [EVERY * n + EVERY - 1 for n in range(12)]
    assert source.written == 12
    others = [one.key for one in found if one.operator != OPERATOR]
    assert others == [one.key for one in iter_candidates(read, SUSPECTS)]
    texts = [read("x.py").apply(found[number].edits).decode() for number in own]
    assert "(a, b, 0) < (b, a)" in texts[0], "the likeliest of the likeliest place comes first"
    assert texts[0].startswith("def f0(a, b):\n    c = (a")


def test_a_question_holds_an_excerpt_and_what_is_known(start) -> None:
    _, scripted, _ = start()
    first = [asked for asked, width in scripted.asked if width == WIDTHS[0]]
    assert len(first) == 4
    for number, asked in enumerate(first):
        assert asked.excerpt == shown(f"def f{number}(a, b):\n    c = a < b\n    return c\n")
        assert (asked.path, asked.failure, asked.request) == ("x.py", "E assert 1 == 2", "wrong")
    wider = {width for _, width in scripted.asked}
    assert wider == {WIDTHS[0], WIDTHS[-1]}, "once the others are used up it is asked for all it has"


def test_what_the_tables_make_too_is_tried_once(start) -> None:
    _, _, found = start(lambda asked, width: [Answer(asked.excerpt.replace("<", "<="), Opinion(-1.0, 3))])
    keys = [one.key for one in found]
    assert len(keys) == len({*keys})
    assert {*keys} == {one.key for one in iter_candidates(read, SUSPECTS)}


def test_more_effort_asks_again_and_wider(start) -> None:
    source, scripted, _ = start(lambda asked, width: lines(asked, width) if width == WIDTHS[1] else [])
    assert source.written == 0
    again = Written(scripted, WEIGHTS, patience=60.0)
    try:
        ranked = list(again.watch(iter_ranked(read, SUSPECTS)))
        again.settle()
        assert again.written == 0
        again.more(1)
        again.more(0)
        again.settle()
        assert again.written == 12
        assert again.best(3) == again.best(12)[:3]
        assert len(list(again.among(one.candidate for one in ranked))) == len(ranked) + 12
    finally:
        again.close()


def gone(asked: Asked, width: int) -> list[Answer]:
    raise Gone("The model answers no more: it was killed")


def broken(asked: Asked, width: int) -> list[Answer]:
    raise KeyError("no such token")


def rubbish(asked: Asked, width: int) -> list[Answer]:
    return [
        Answer(text, Opinion(-1.0, 1)) for text in ("", "\0", "def", asked.excerpt, "def f0(a, b):\n  x(")
    ]


@pytest.mark.parametrize(
    ("says", "why"),
    [(gone, "it was killed"), (broken, "KeyError"), (rubbish, ""), (lambda asked, width: [], "")],
)
def test_whatever_the_model_does_the_others_come_all_the_same(start, says, why) -> None:
    source, _, found = start(says)
    assert why in source.why and bool(why) == bool(source.why)
    assert [one.key for one in found if one.operator != OPERATOR] == [
        one.key for one in iter_candidates(read, SUSPECTS)
    ]


def test_nobody_waits_for_a_slow_model() -> None:
    go_on = threading.Event()

    def slow(asked: Asked, width: int) -> list[Answer]:
        go_on.wait(60)
        return []

    source = Written(Scripted(slow), WEIGHTS, patience=0.0)
    found = list(source.among(one.candidate for one in source.watch(iter_ranked(read, SUSPECTS))))
    assert not go_on.is_set()
    assert [one.key for one in found] == [one.key for one in iter_candidates(read, SUSPECTS)]
    source.close()
    go_on.set()


class JudgeToo(Scripted):
    """One that ranks, too."""

    def warm(self) -> None:
        pass

    def opinions(self, asked: Asked, after: Sequence[str]) -> list[Opinion]:
        return [Opinion(-3.0, 4) for _ in after]


def test_a_search_gets_both_and_of_a_judge_alone_the_order_alone(scripted) -> None:
    both = Both(iter_ranked(read, SUSPECTS), JudgeToo(lines), WEIGHTS, "", "")
    both.more(2)
    found = list(both)
    both.close()
    plain = [one.key for one in iter_candidates(read, SUSPECTS)]
    assert sorted(one.key for one in found if one.operator != OPERATOR) == sorted(plain)
    assert sum(one.operator == OPERATOR for one in found) == 12
    assert both.given_up() == ""
    alone = Both(iter_ranked(read, SUSPECTS), scripted(lambda text: -3.0), WEIGHTS, "", "")
    alone.more(2)
    assert sorted(one.key for one in alone) == sorted(plain)
    alone.close()


def test_the_engines_process_is_a_writer() -> None:
    from deskagent.repair.model.engine import EngineJudge

    assert issubclass(EngineJudge, Writer)
