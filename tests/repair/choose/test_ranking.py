from __future__ import annotations

import pytest

from deskagent.repair.choose import Choice, Context, rank
from deskagent.repair.search import Trial
from deskagent.repair.types import Baseline, Candidate, Edit, Outcome, Status, TestResult, Verdict

ACCOUNT = b"""\
LIMIT = 20


def is_overdrawn(opening, bookings):
    \"\"\"Whether the balance is below zero.\"\"\"
    balance = opening + sum(bookings)
    return balance <= 0


def shorten(text, limit):
    if len(text) <= 20:
        return text
    return text[:limit]


class Entry:
    def __init__(self, text, debit, credit):
        self.text, self.debit, self.credit = text, debit, credit


def book(text, debit, credit):
    entry = Entry(text, debit, credit)
    return entry
"""
FAILING = TestResult(
    "test_account.py::test_is_overdrawn_zero",
    Outcome.FAILED,
    message="E  assert True == False\nE assert 17 == 'big'",
)


def trial(
    number: int, old: str, new: str, *, operator: str = "compare.boundary", prior: float = 0.2
) -> Trial:
    start = ACCOUNT.index(old.encode())
    edit = Edit("account.py", start, start + len(old.encode()), new)
    after = ACCOUNT[: edit.start] + new.encode() + ACCOUNT[edit.end :]
    line = ACCOUNT[:start].count(b"\n") + 1
    candidate = Candidate((edit,), operator, "account.py", line, prior, f"{old} → {new}", str(number))
    return Trial(number, candidate, {"account.py": after}, Verdict(Status.GREEN))


def ranked(*trials: Trial, request: str = "") -> list[Choice]:
    baseline = Baseline((FAILING,), {}, 0.1, "pytest")
    return rank(trials, Context(lambda path: ACCOUNT, baseline, request))


def names(choice: Choice) -> set[str]:
    return {reason.name for reason in choice.reasons}


def test_the_plain_comparison_comes_before_tricks() -> None:
    """Zero is not overdrawn."""
    trials = [
        trial(1, "return balance <= 0", "return balance + 1 <= 0", operator="arithmetic.offset", prior=0.2),
        trial(2, "opening + sum", "opening + 1 + sum", operator="arithmetic.offset", prior=0.2),
        trial(3, "return balance <= 0", "return balance <= -1", operator="constant.integer", prior=0.3),
        trial(4, "return balance <= 0", "return balance < 0", prior=0.5),
    ]
    assert ranked(*trials)[0].trial.number == 4
    assert ranked(*reversed(trials))[0].trial.number == 4


@pytest.mark.parametrize(
    ("old", "new", "sign"),
    [
        ("return balance <= 0", "return balance <= balance", "constant"),
        ("return balance <= 0", "return balance + 1 <= 0", "shifted"),
        ("return balance <= 0", "return False\n    return balance <= 0", "dead"),
        (
            "return balance <= 0",
            "if balance == 17:\n        return False\n    return balance <= 0",
            "special",
        ),
        ("return balance <= 0", "return opening <= 0", "idle"),
        ("return balance <= 0", "if opening:\n        return 1\n    else:\n        return 1", "twice"),
        ("    entry = Entry(text, debit, credit)\n    return entry", "    return text", "removed"),
        ("text[:limit]", "text[:20]", "literal"),
        ("Entry(text, debit, credit)", "Entry(text, credit, debit)", "crossed"),
        (
            "    return entry",
            "    try:\n        return entry\n    except Exception:\n        return None",
            "broad",
        ),
        ("    return entry", "    other = entry\n    return other", "alias"),
    ],
)
def test_signs_against(old: str, new: str, sign: str) -> None:
    plain = trial(1, "return balance <= 0", "return balance < 0")
    odd = trial(2, old, new)
    choices = {choice.trial.number: choice for choice in ranked(plain, odd)}
    found = [reason for reason in choices[2].reasons if reason.name == sign]
    assert found
    assert found[0].weight < 0
    assert found[0].text
    assert sign not in names(choices[1])


@pytest.mark.parametrize(
    ("old", "new", "request_", "sign"),
    [
        ("<= 20", "<= limit", "", None),
        ("<= 20", "<= LIMIT", "the LIMIT is not kept", "asked"),
        ("return balance <= 0", "return False", "", "expected"),
        ("return balance <= 0", "return balance < 0", "", "tested"),
    ],
)
def test_signs_for(old: str, new: str, request_: str, sign: str | None) -> None:
    (choice,) = ranked(trial(1, old, new), request=request_)
    positive = {reason.name for reason in choice.reasons if reason.weight > 0}
    assert positive == ({sign, "tested"} & positive if sign else set())
    assert sign is None or sign in positive


def test_a_file_that_cannot_be_parsed_is_ranked_all_the_same() -> None:
    broken = b"def f(:\n"
    candidate = Candidate((Edit("a.py", 0, 3, "x"),), "name", "a.py", 1, 0.3, "", "k")
    one = Trial(1, candidate, {"a.py": b"print 1"}, Verdict(Status.GREEN))
    (choice,) = rank([one], Context(lambda path: broken))
    assert choice.trial is one
    assert choice.cluster == 0


def test_an_empty_set_is_no_error() -> None:
    assert rank([], Context(lambda path: b"")) == []
