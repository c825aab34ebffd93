"""Lists to choose from, the orders that are made of them, and weights fitted on them; the judge is scripted."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import choice_cache
import choice_sets
import model
import pytest
import ranking
import writing
from choices import fix_of, is_fix

from deskagent.repair.model.judge import Asked, Opinion
from deskagent.repair.model.measure import ranks
from deskagent.repair.model.measure.choices import SIZE, Choice, choose
from deskagent.repair.model.measure.hunk import Hunk
from deskagent.repair.model.measure.suites import Fix
from deskagent.repair.model.weights import Weights
from deskagent.repair.model.writer.answer import Answer
from deskagent.repair.rank import iter_ranked
from deskagent.repair.source import SourceFile
from deskagent.repair.syntax import Syntax
from deskagent.repair.types import Suspect

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


def made(after: bytes, seed: int = 0, limit: int = 400) -> Choice | None:
    source = SourceFile.from_bytes("a.py", BUGGY)
    suspects = [Suspect("a.py", line, 1.0) for line in (5, 6, 7, 8, 9)]
    stream = iter_ranked(lambda _: source, suspects)
    right, fix = is_fix(BUGGY, "a.py", after), fix_of(Syntax(source), after)
    return choose("count", stream, right, fix, random.Random(seed), limit, failure="failed")


def test_a_model_that_knows_is_seen_to_know_and_one_that_guesses_is_not() -> None:
    choice = made(FIXED)
    assert choice is not None
    knows = ranks.judged(choice, Knows("item <= high"))
    guesses = ranks.judged(choice, Knows("nothing"))
    assert ranks.reciprocals([knows], ranks.MODEL) == [1.0]
    assert ranks.reciprocals([guesses], ranks.MODEL) == [1 / (1 + (SIZE - 1) / 2)], "equals share their ranks"
    assert 0 < ranks.reciprocals([knows], ranks.PRIORS)[0] <= 1


def several(weight: float, reached: bool = True) -> list[ranks.Judged]:
    """Where the model's word tells the right one, and its value tells nothing."""
    rng = random.Random(1)
    found = []
    for number in range(60):
        rows = [(rng.gauss(0, 1), (weight if i == 0 else 0.0) + rng.gauss(0, 1), 4.0, -1.0) for i in range(9)]
        choice = Choice(str(number), (), 0, int(reached), group=str(number // 4))
        found.append(ranks.Judged(choice, rows, rows[1:]))
    return found


def test_weights_are_fitted_to_what_tells_the_right_one() -> None:
    pytest.importorskip("numpy")
    known = several(2.0)
    found = ranking.fit(known)
    assert found.loglik > 3 * abs(found.prior)
    priors, crossed = ranks.reciprocals(known, ranks.PRIORS), ranking.crossed(known, [])
    assert len(crossed) == len(known)
    assert sum(crossed) > sum(priors) + 0.2 * len(known)
    assert ranking.fit(several(2.0, reached=False)) == Weights(), "of what isn't reached nothing is learnt"


def test_no_choice_is_measured_by_weights_that_its_own_repository_was_fitted_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = several(2.0)
    fitted: list[set[str]] = []
    fit = lambda given: fitted.append({one.choice.group for one in given}) or Weights()  # noqa: E731
    monkeypatch.setattr(ranking, "fit", fit)
    ranking.crossed(known, [])
    every = {one.choice.group for one in known}
    left = [every - groups for groups in fitted]
    assert all(left) and set().union(*left) == every
    assert sum(map(len, left)) == len(every), "each group is held out once, as a whole"


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
    assert Hunk.of(BUGGY, after).kind == kind


def test_the_table_says_what_chance_would_reach() -> None:
    timed = model.Timed(Knows("item <= high"))
    choice = made(FIXED)
    assert choice is not None
    found = {"quixbugs": [ranks.judged(choice, timed)]}
    timed.seconds = 0.002 * timed.asked
    text = model.table([model.measure("quixbugs", found, Weights())], timed)
    assert "quixbugs" in text and "1.000 [1.000, 1.000]" in text
    assert "an order at random: 0.130; 2.0 ms a candidate" in text


def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    asked: list[str] = []

    def make(name: str) -> Choice | None:
        asked.append(name)
        return made(FIXED) if name == "count" else None

    cases = [(name, lambda name=name: make(name)) for name in ("none", "count")]
    path = tmp_path / "choices.jsonl"
    said: list[str] = []
    first = list(choice_cache.choices(cases, path, said.append))
    assert asked == ["none", "count"] and said[-1].startswith("2 of 2")
    with path.open("a") as file:
        file.write('["half')
    again = list(choice_cache.choices(cases, path, said.append))
    assert again == first and asked == ["none", "count"]
    judge = Knows("item <= high")
    known = choice_cache.judgements(first, judge, tmp_path / "judged.jsonl", said.append)
    before = len(judge.asked)
    assert choice_cache.judgements(first, judge, tmp_path / "judged.jsonl", said.append) == known
    assert len(judge.asked) == before > 0


def test_answers_are_kept_apart_by_the_checkpoint_that_gave_them(tmp_path: Path) -> None:
    checkpoint = tmp_path / "model"
    checkpoint.mkdir()
    (checkpoint / "model.safetensors").write_bytes(b"one")
    first = choice_cache.place(tmp_path, "mined", 0, checkpoint)
    (checkpoint / "ranking.json").write_text("{}")
    assert choice_cache.place(tmp_path, "mined", 0, checkpoint) == first, (
        "weights of the order change no answer"
    )
    (checkpoint / "model.safetensors").write_bytes(b"others")
    assert choice_cache.place(tmp_path, "mined", 0, checkpoint) != first
    assert choice_cache.place(None, "mined", 0, checkpoint) is None


def test_real_fixes_are_drawn_alike_from_repositories_that_the_corpus_has_nothing_of(tmp_path: Path) -> None:
    file = tmp_path / "fixes.jsonl"
    repos = ["some+other"] * 6 + ["a+third"] * 2 + ["psf+requests"] * 3
    rows = [
        {"repo": repo, "path": "a.py", "before": f"x = {number}\n", "after": f"x = -{number}\n"}
        for number, repo in enumerate(repos)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    fresh = choice_sets.sample(file, 4, 0)
    assert sorted(fix.group for fix in fresh) == ["a+third", "a+third", "some+other", "some+other"]
    assert choice_sets.sample(file, 4, 0) == fresh
    assert {fix.group for fix in choice_sets.sample(file, 9, 0, seen=True)} == {"psf+requests"}


def test_a_line_is_written_where_a_typed_edit_makes_it() -> None:
    fix = Fix("count", "a.py", BUGGY.decode(), FIXED.decode())
    (replacement, insertion) = writing.written([fix], Knows("item <= high"), Weights(), None)
    assert replacement == {"kind": "replacement", "cases": 1, "typed": 1, "model": 1, "written": 1}
    assert insertion["cases"] == 0


class Writes(Knows):
    """One that writes the right line, whatever it is shown."""

    def proposals(self, asked: Asked, width: int) -> list[Answer]:
        after = asked.excerpt.replace("item < high", "(item, high) != (high, item) < (item, item)")
        return [Answer(after, Opinion(-1.0, 5))]


def test_a_line_that_no_typed_edit_makes_is_written_by_the_model() -> None:
    fixed = BUGGY.decode().replace("item < high", "(item, high) != (high, item) < (item, item)")
    fix = Fix("count", "a.py", BUGGY.decode(), fixed)
    (replacement, _) = writing.written([fix], Writes("item <= high"), Weights(), None)
    assert replacement == {"kind": "replacement", "cases": 1, "typed": 0, "model": 0, "written": 1}
