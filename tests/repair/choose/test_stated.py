"""What a project states of its functions, collected and tried by a real worker."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from deskagent.repair.choose import Behaviour, Choice, Context, rank, watch
from deskagent.repair.choose.returns import allows, fits, uses
from deskagent.repair.choose.stated import Statement, collect, sites
from deskagent.repair.choose.targets import Target
from deskagent.repair.command import TestCommand
from deskagent.repair.search import Trial
from deskagent.repair.types import Baseline, Candidate, Edit, Status, Verdict
from deskagent.repair.verify import Verifier
from deskagent.terminal.sandbox import find_sandbox
from deskagent.terminal.types import Rung

SOURCE = '''\
"""Prices.

>>> half(10)
5
"""
import os


def half(price):
    """Half of a price, rounded down.

    >>> half(7)
    3
    >>> os.remove("prices.py")
    >>> half(unknown)
    """
    return price // 3


def tripled(price):
    """tripled(4) -> 12, tripled of nothing is nothing.

    `tripled(0)` == 0
    """
    return price + 2


def first_of(prices: list[int]) -> int:
    for price in prices:
        if price > 3:
            return price
    return 0


def parts(text):
    return text.split(" ")


def show_all():
    return [len(part) for part in parts("a b")] + [parts("c")[0]]


def encode(text):
    return text.replace("a", "1")


def decode(text):
    return text.replace("1", "a")


def again():
    while True:
        pass
'''
TESTS = """\
import prices


def test_half():
    assert prices.half(2) == 1


def test_tripled():
    assert prices.tripled(1) == 3


def test_first_of():
    assert prices.first_of([5]) == 5
    assert prices.first_of([]) == 0


def test_parts():
    assert prices.parts("a  b") == ["a", "b"]


def test_encode():
    assert prices.encode("aab") != "aab"
    assert prices.decode(prices.encode("xyz")) == "xyz"
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("prices")
    (folder / "prices.py").write_text(SOURCE)
    (folder / "test_prices.py").write_text(TESTS)
    return folder


class Bench:
    """Ranks patches of prices.py by what a worker sees of them."""

    def __init__(self, verifier: Verifier, baseline: Baseline) -> None:
        self.verifier, self.baseline = verifier, baseline

    def read(self, path: str) -> bytes:
        return (self.verifier.project / path).read_bytes()

    def behaviour(self, *green: Trial) -> Behaviour:
        return watch(self.verifier, self.baseline, self.read, green, seconds=600.0)

    def rank(self, *green: Trial) -> list[Choice]:
        return rank(green, Context(self.read, behaviour=self.behaviour(*green)))


@pytest.fixture(scope="module")
def bench(project: Path) -> Iterator[Bench]:
    sandbox = find_sandbox()
    if sandbox.rung is Rung.NONE:
        pytest.skip("no sandbox here: nothing is made up outside one")
    argv = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    command = TestCommand(" ".join(argv), argv, "pytest", Path(sys.executable), argv[3:], as_module=True)
    with Verifier(project, command, sandbox=sandbox, slots=1) as verifier:
        yield Bench(verifier, verifier.baseline())


def trial(number: int, old: str, new: str, prior: float = 0.3) -> Trial:
    start = SOURCE.index(old)
    edit = Edit("prices.py", start, start + len(old), new)
    after = SOURCE[:start] + new + SOURCE[edit.end :]
    line = SOURCE[:start].count("\n") + 1
    candidate = Candidate((edit,), "constant", "prices.py", line, prior, new, str(number))
    return Trial(number, candidate, {"prices.py": after.encode()}, Verdict(Status.GREEN))


def reasons(choice: Choice) -> dict[str, str]:
    return {reason.name: reason.text for reason in choice.reasons if reason.weight < 0}


def test_doctests_decide_between_patches_that_pass(bench: Bench) -> None:
    wrong, right = trial(1, "price // 3", "1", 0.9), trial(2, "price // 3", "price // 2", 0.1)
    first, second = bench.rank(wrong, right)
    assert first.trial is right
    assert reasons(second)["example"] == "`half(7) → 3` says the project, but it gives 1"
    assert (bench.verifier.project / "prices.py").exists()


def test_examples_in_words_count_too(bench: Bench) -> None:
    wrong, right = trial(1, "price + 2", "price + 2 * 1"), trial(2, "price + 2", "price * 3")
    first, second = bench.rank(wrong, right)
    assert first.trial is right
    assert reasons(second)["example"] == "`tripled(0) == 0` says the project, but it gives 2"


def test_a_result_that_the_annotation_excludes_counts_against_a_patch(bench: Bench) -> None:
    odd, plain = trial(1, "price > 3", "(price := str(price))"), trial(2, "price > 3", "price > 4")
    choices = bench.rank(odd, plain)
    assert choices[0].trial is plain
    assert "returns str, which the annotation excludes" in reasons(choices[1])["annotated"]


def test_a_result_that_callers_cannot_use_counts_against_a_patch(bench: Bench) -> None:
    odd, plain = trial(1, 'text.split(" ")', "len(text.split())"), trial(2, 'text.split(" ")', "text.split()")
    choices = bench.rank(odd, plain)
    assert choices[0].trial is plain
    assert "callers have it" in reasons(choices[1])["callers"]
    calls = {t.text for t in bench.behaviour(odd, plain).observed[0].values() if not t.new}
    assert {"parts('a b')", "parts('c')"} <= calls


def test_what_undoes_another_function_should_do_so(bench: Bench) -> None:
    odd, plain = trial(1, '"a", "1"', '"a", "2"', 0.9), trial(2, '"a", "1"', '"a", "1", 9', 0.1)
    choices = bench.rank(odd, plain)
    assert "`decode(encode('aab')) == 'aab'`" in reasons(next(c for c in choices if c.trial is odd))["law"]
    assert "law" not in reasons(next(c for c in choices if c.trial is plain))


def test_a_statement_that_hangs_costs_no_other(bench: Bench) -> None:
    target = Target("prices.py", "half")
    said = [Statement(target, "call", text) for text in ("again()", "half(9)", "os._exit(3)", "half(30)")]
    probe = {"scout": False, "calls": 0, "tries": 0, "seconds": 5.0, "cpu": 0.1, "targets": []}
    job = {**probe, "stated": [one.message() for one in said]}
    report = bench.verifier.observe({}, ["test_prices.py::test_half"], job).result(240)
    ends = {message["i"]: (message["kind"], message["out"]) for message in report.probes}
    assert ends == {0: ("hangs", ""), 1: ("returns", "3"), 2: ("dies", ""), 3: ("returns", "10")}


def test_only_examples_with_plain_values_are_taken() -> None:
    code = b'''
def f(x):
    """f(1) -> 2
    * `f([1, 2])` == [2, 3].
    f(y) -> 3
    f(2) -> the next number
    f(3) is bigger than 3
    >>> f(4)
    5
    """
    return x


class C:
    """>>> C().m(1)"""

    def m(self, x):
        return f(x) + f(-1) + f(x=2)
'''
    target, method = Target("a.py", "f"), Target("a.py", "C.m")
    calls = sites({"a.py": ast.parse(code)}, ["f", "m"])
    found = collect([target, method], lambda path: code, calls)
    assert [(s.text, s.want) for s in found if s.kind == "example"] == [
        ("f(1)", "2"),
        ("f([1, 2])", "[2, 3]"),
    ]
    assert {s.text for s in found if s.kind == "call"} == {"f(-1)", "f(x=2)"}
    assert [s.target for s in found if s.kind == "doc"] == [target, method]


@pytest.mark.parametrize(
    ("annotation", "kind", "expected"),
    [
        ("int", "int", True),
        ("float", "int", True),
        ("int", "str", False),
        ("Optional[str]", "NoneType", True),
        ("str | None", "int", False),
        ("'list[int]'", "tuple", False),
        ("Union[int, Shape]", "str", None),
        ("Shape", "Circle", None),
        ("typing.Iterator[int]", "generator", True),
        ("None", "int", False),
        ("Any", "int", None),
        ("'not python('", "int", None),
    ],
)
def test_what_annotations_allow(annotation: str, kind: str, expected: bool | None) -> None:
    assert allows(ast.parse(annotation, mode="eval").body, kind) is expected


def test_how_callers_use_what_is_returned() -> None:
    code = "for x in f(): pass\nf()[0]\nf().strip()\nif f() is None: pass\na, b = f()\nlen(f())\ng(f(), 1)"
    found = uses(sites({"a.py": ast.parse(code)}, ["f"])["f"])
    assert found == {"iterated", "subscripted", ".strip", "none"}
    assert not fits("iterated", "NoneType")
    assert not fits("subscripted", "set")
    assert not fits(".strip", "int")
    assert fits(".strip", "Shape")
