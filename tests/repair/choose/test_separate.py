from __future__ import annotations

from deskagent.repair.choose import Behaviour, Context, apart, rank, separate
from deskagent.repair.choose.differ import Try
from deskagent.repair.choose.targets import Target
from deskagent.repair.search import Trial
from deskagent.repair.types import Candidate, Edit, Status, Verdict

SORT = Target("sort.py", "merge")
CODE = b"def merge(a, b):\n    return a\n"


def trial(number: int, prior: float = 0.2) -> Trial:
    candidate = Candidate((Edit("sort.py", 28, 29, "b"),), "name", "sort.py", 2, prior, "a → b", str(number))
    return Trial(number, candidate, {"sort.py": CODE.replace(b"a\n", b"b\n")}, Verdict(Status.GREEN))


def ended(
    text: str, out: str, *, new: bool = True, kind: str = "returns", after: str = "", type_: str = "list"
) -> Try:
    return Try(SORT, text, new, kind, out, after, type_, "test_sort.py::test_one")


def behaviour(**runs: list[Try]) -> Behaviour:
    observed = {int(name[1:]): {(t.target, t.text): t for t in tries} for name, tries in runs.items()}
    return Behaviour(observed, frozenset({SORT}), frozenset({SORT}))


def test_the_shortest_input_that_tells_them_apart() -> None:
    seen = behaviour(
        v0=[ended("merge([1], [])", "[]"), ended("merge([9, 9], [])", "[]")],
        v1=[ended("merge([1], [])", "[1]"), ended("merge([9, 9], [])", "[9]")],
        v2=[ended("merge([1], [])", "[2]"), ended("merge([9, 9], [])", "[8]")],
    )
    found = separate(trial(1), trial(2), seen)
    assert found is not None
    assert (found.call, found.best, found.rival, found.unedited) == ("merge([1], [])", "[1]", "[2]", "[]")
    assert found.made_up
    assert "merge([1], []) → [1] with this patch, [2] with that one" in apart(trial(1), trial(2), seen)


def test_outputs_before_side_effects_and_test_inputs_before_made_up_ones() -> None:
    seen = behaviour(
        v1=[ended("m(1)", "1", after="a=[1]"), ended("merge(22)", "2"), ended("merge(333)", "3", new=False)],
        v2=[ended("m(1)", "1", after="a=[2]"), ended("merge(22)", "3"), ended("merge(333)", "4", new=False)],
    )
    found = separate(trial(1), trial(2), seen)
    assert found is not None
    assert found.call == "merge(333)"
    assert not found.made_up


def test_a_side_effect_is_shown_where_it_alone_differs() -> None:
    seen = behaviour(v1=[ended("m(1)", "1", after="a=[1]; b=2")], v2=[ended("m(1)", "1", after="a=[2]; b=2")])
    found = separate(trial(1), trial(2), seen)
    assert found is not None
    assert (found.best, found.rival) == ("1 and leaves a=[1]", "1 and leaves a=[2]")


def test_what_was_refused_or_is_the_same_tells_nothing() -> None:
    seen = behaviour(
        v1=[ended("m(1)", "1"), ended("m(2)", "", kind="refused")],
        v2=[ended("m(1)", "1"), ended("m(2)", "7")],
    )
    assert separate(trial(1), trial(2), seen) is None
    assert separate(trial(1), trial(3), seen) is None
    assert apart(trial(1), trial(2), seen) == apart(trial(1), trial(2))


def test_the_patch_that_newly_fails_or_changes_more_comes_last() -> None:
    inputs = [f"merge({n})" for n in range(10)]
    plain = [ended(text, "[0]") for text in inputs]
    seen = behaviour(
        v0=plain,
        v1=[
            *plain[:5],
            *(ended(text, "TypeError: no", kind="raises", type_="TypeError") for text in inputs[5:]),
        ],
        v2=[*plain[:9], ended(inputs[9], "[1]")],
        v3=[*plain[:9], ended(inputs[9], "[1]")],
    )
    choices = rank([trial(1), trial(2), trial(3)], Context(lambda path: CODE, behaviour=seen))
    assert [choice.trial.number for choice in choices] == [2, 3, 1]
    assert [choice.cluster for choice in choices] == [1, 1, 2]
    texts = [reason.text for reason in choices[2].reasons if reason.name == "breaks"]
    assert texts == ["merge(5) newly raises TypeError: no"]


def test_a_type_that_no_passing_test_saw_counts_against_a_patch() -> None:
    seen = behaviour(
        v0=[ended("merge(1)", "True", type_="bool"), ended("merge(2)", "E", kind="raises", type_="E")],
        v1=[ended("merge(1)", "True", type_="bool"), ended("merge(2)", "None", type_="NoneType")],
        v2=[ended("merge(1)", "True", type_="bool"), ended("merge(2)", "False", type_="bool")],
    )
    choices = rank([trial(1, 0.5), trial(2, 0.3)], Context(lambda path: CODE, behaviour=seen))
    assert [choice.trial.number for choice in choices] == [2, 1]


def test_a_patch_nobody_watched_is_neither_better_nor_worse_for_it() -> None:
    plain = [ended(f"merge({n})", "[0]") for n in range(4)]
    worse = [ended(f"merge({n})", "E", kind="raises") for n in range(4)]
    seen = behaviour(v0=plain, v1=plain, v2=worse)
    choices = rank([trial(1), trial(2), trial(3)], Context(lambda path: CODE, behaviour=seen))
    assert [choice.trial.number for choice in choices] == [1, 3, 2]
    assert choices[1].cluster == 0
