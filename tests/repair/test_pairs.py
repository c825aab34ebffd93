import itertools

from deskagent.repair.pairs import Progress, near, together
from deskagent.repair.rank import iter_candidates
from deskagent.repair.source import SourceFile
from deskagent.repair.types import Baseline, Candidate, Edit, Outcome, Status, Suspect, TestResult, Verdict

SOURCE = SourceFile.from_bytes("m.py", b"def f(a, b):\n    c = a < b\n    d = a + 1\n    return c, d\n")


def edit(start, end, new, operator="name.variable"):
    return Candidate((Edit("m.py", start, end, new),), operator, "m.py", 1, 0.5, new, "")


def result(name, outcome, message=""):
    return TestResult(name, outcome, 0.0, message)


BEFORE = Baseline(
    (result("one", Outcome.FAILED, "E   assert 1 == 2"), result("two", Outcome.FAILED)), {}, 0.1
)


def red(*results):
    return Verdict(Status.RED, results)


def test_edits_in_each_others_way_make_no_pair():
    assert together(edit(0, 3, "x"), edit(2, 5, "y"), "pair.near") is None
    assert together(edit(3, 3, "x"), edit(3, 3, "y"), "pair.near") is None
    both = together(edit(5, 6, "x"), edit(0, 3, "y"), "pair.near")
    assert both is not None and [e.start for e in both.edits] == [0, 5]


def test_a_pair_is_worth_less_than_either_edit():
    singles = [
        (-1.0, edit(0, 1, "x")),
        (-2.0, edit(2, 3, "y", "compare.flip")),
        (-3.0, edit(4, 5, "z", "call.wrap")),
    ]
    made = list(near(singles, 0.0))
    assert len(made) == 3
    assert all(value < -3.0 for value, _ in made)


def test_what_heals_one_of_two_tests_is_a_base_and_what_heals_none_is_not():
    progress = Progress(BEFORE)
    progress.note(edit(0, 1, "x"), red(result("one", Outcome.FAILED, "E   assert 3 == 2")))
    assert progress.take() == []
    progress.note(edit(0, 1, "y"), red(result("one", Outcome.PASSED), result("two", Outcome.FAILED)))
    assert [base.note for base, _ in progress.take()] == ["y"]
    assert progress.take() == [], "each is taken once"


def test_a_crash_that_became_a_failed_assertion_is_a_base():
    crashed = Baseline((result("one", Outcome.FAILED, "E   TypeError: f() takes 1 argument"),), {}, 0.1)
    progress = Progress(crashed)
    progress.note(edit(0, 1, "x"), red(result("one", Outcome.FAILED, "E   KeyError: 3")))
    assert progress.take() == []
    progress.note(edit(0, 1, "y"), red(result("one", Outcome.FAILED, "E   assert 3 == 2")))
    assert len(progress.take()) == 1


def test_few_bases_of_a_sort_are_kept():
    progress = Progress(BEFORE)
    for i in range(50):
        progress.note(edit(0, 1, f"x{i}"), red(result("one", Outcome.PASSED), result("two", Outcome.FAILED)))
    assert len(progress.take()) == 3


def test_a_second_edit_comes_soon_after_the_first_got_further():
    """`a < b` → `a > b` heals one test, `a + 1` → `a - 1` the other."""
    progress = Progress(BEFORE)
    suspects = [Suspect("m.py", line, 1.0) for line in (2, 3, 4)]
    stream = iter_candidates(lambda path: SOURCE, suspects, baseline=BEFORE, progress=progress)
    noted = 0
    for number, candidate in enumerate(itertools.islice(stream, 400), 1):
        code = SOURCE.edited(candidate.edits).decode()
        if "a > b" in code and "a - 1" in code:
            assert candidate.operator == "pair.then" and number - noted < 40
            return
        if "a > b" in code and not noted:
            noted = number
            progress.note(candidate, red(result("one", Outcome.PASSED), result("two", Outcome.FAILED)))
    raise AssertionError("the pair never came")


def test_second_edits_leave_half_of_the_trials_to_others():
    """Every edit of the first line gets a test further: hundreds of pairs, none of which may crowd out single edits."""
    progress = Progress(BEFORE)
    suspects = [Suspect("m.py", line, 1.0) for line in (2, 3, 4)]
    stream = iter_candidates(lambda path: SOURCE, suspects, baseline=BEFORE, progress=progress)
    kinds = []
    for candidate in itertools.islice(stream, 60):
        kinds.append(candidate.operator == "pair.then")
        if candidate.line == 2 and not kinds[-1]:
            progress.note(candidate, red(result("one", Outcome.PASSED), result("two", Outcome.FAILED)))
    assert any(kinds)
    assert not any(one and two for one, two in itertools.pairwise(kinds))
