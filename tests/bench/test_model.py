"""Lists to choose from, the orders that are made of them, and weights fitted on them; the judge is scripted."""

from __future__ import annotations

import random
from collections.abc import Sequence

import choices
import model
import pytest
import ranking
import writing
from choices import SIZE, choose, fix_of, is_fix
from region import Region

from deskagent.repair.model.judge import Asked, Opinion
from deskagent.repair.model.weights import Weights
from deskagent.repair.rank import iter_ranked
from deskagent.repair.source import SourceFile
from deskagent.repair.syntax import Syntax
from deskagent.repair.types import Edit, Suspect

BUGGY = b"""LIMIT = 3


def count(items, low, high):
    found = 0
    for item in items:
        if low <= item < high:
            found += 1
    return found
"""
FIXED = BUGGY.replace(b"item < high", b"item <= high")
ODD = BUGGY.replace(b"found += 1", b"found += weigh(item)[0]")


class Knows:
    """Holds `text` likely."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.asked: list[Asked] = []

    def warm(self) -> None:
        pass

    def opinions(self, asked: Asked, after: Sequence[str]) -> list[Opinion]:
        self.asked.append(asked)
        return [Opinion(-1.0 if self.text in one else -9.0, 5) for one in after]


def made(after: bytes, seed: int = 0, limit: int = 400) -> choices.Choice | None:
    source = SourceFile.from_bytes("a.py", BUGGY)
    suspects = [Suspect("a.py", line, 1.0) for line in (5, 6, 7, 8, 9)]
    right = is_fix(BUGGY, "a.py", Region.of(BUGGY, after))
    stream = iter_ranked(lambda _: source, suspects)
    return choose("count", stream, right, fix_of(Syntax(source), after), random.Random(seed), limit, "failed")


def test_the_right_edit_stands_once_among_its_neighbours() -> None:
    choice = made(FIXED)
    assert choice is not None and choice.rank > 0
    assert len(choice.options) == SIZE
    after = [option.after for option in choice.options]
    assert [i for i, text in enumerate(after) if "item <= high" in text] == [choice.right]
    assert len({option.after for option in choice.options}) == SIZE
    assert all(option.value is not None for option in choice.options)
    assert made(FIXED) == choice, "the seed decides"
    assert len({made(FIXED, seed).right for seed in range(8)}) > 2  # type: ignore[union-attr]


def test_one_that_is_not_reached_is_put_among_others() -> None:
    choice = made(ODD)
    assert choice is not None and choice.rank == 0
    assert "weigh(item)[0]" in choice.options[choice.right].after
    assert choice.options[choice.right].value is None


def test_a_model_that_knows_is_seen_to_know_and_one_that_guesses_is_not() -> None:
    choice = made(FIXED)
    assert choice is not None
    knows = model.judged(choice, Knows("item <= high"))
    guesses = model.judged(choice, Knows("nothing"))
    assert ranking.reciprocal([knows], ranking.MODEL) == 1.0
    assert ranking.reciprocal([guesses], ranking.MODEL) == 1 / (1 + (SIZE - 1) / 2), (
        "equals share their ranks"
    )
    assert 0 < ranking.reciprocal([knows], ranking.PRIORS) <= 1


def test_what_is_known_is_told_and_an_excerpt_is_asked_about_once() -> None:
    choice = made(FIXED)
    assert choice is not None
    judge = Knows("")
    model.judged(choice, judge)
    assert [asked.failure for asked in judge.asked] == ["failed"]
    assert judge.asked[0].excerpt.startswith("def count(") and judge.asked[0].path == "a.py"


def test_weights_are_fitted_to_what_tells_the_right_one() -> None:
    rng = random.Random(1)
    several = []
    for number in range(40):
        right = rng.randrange(5)
        rows = [
            (rng.gauss(0, 1), (2.0 if i == right else 0.0) + rng.gauss(0, 1), 4.0, -1.0) for i in range(5)
        ]
        several.append(ranking.Judged(choices.Choice(str(number), (), right, 1), rows))
    found = ranking.fit(several)
    assert found.loglik > 3 * abs(found.prior)
    assert ranking.reciprocal(several, ranking.by(found)) > ranking.reciprocal(several, ranking.PRIORS) + 0.2
    assert ranking.crossed(several) > ranking.reciprocal(several, ranking.PRIORS) + 0.2


def test_a_difference_is_one_edit_of_whole_lines() -> None:
    assert choices.difference("a", b"a\nb\nc\n", b"a\nB\nc\n") == Edit("a", 2, 4, "B\n")
    assert choices.difference("a", b"a\nc\n", b"a\nb\nc\n") == Edit("a", 2, 2, "b\n")
    assert choices.difference("a", b"a\na\n", b"a\n") == Edit("a", 2, 4, "")


@pytest.mark.parametrize(
    ("after", "kind"),
    [
        (FIXED, "replacement"),
        (BUGGY.replace(b"    found = 0\n", b"    found = 0\n    low += 1\n"), "insertion"),
        (BUGGY.replace(b"    found = 0\n", b""), None),
        (FIXED.replace(b"LIMIT = 3", b"LIMIT = 4"), None),
    ],
)
def test_kinds_of_fixes_that_are_written(after: bytes, kind: str | None) -> None:
    assert writing.kind_of(BUGGY, after) == kind


def test_the_table_says_what_chance_would_reach() -> None:
    row = model.measure("mined", [model.judged(made(FIXED), Knows("item <= high"))], Weights(), False)  # type: ignore[arg-type]
    text = model.table([row], 0.002)
    assert "mined" in text and "1.000" in text
    assert "an order at random: 0.130; 2.0 ms a candidate" in text
