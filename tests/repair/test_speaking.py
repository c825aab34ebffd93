from pathlib import Path

from deskagent.repair import speaking
from deskagent.repair.frames import frames_in
from deskagent.repair.localize import localize
from deskagent.repair.source import SourceFile
from deskagent.repair.speaking import Speaking
from deskagent.repair.syntax import Syntax
from deskagent.repair.topics import Topics
from deskagent.repair.types import Baseline, Outcome, TestResult

CODE = '''def scale(value):
    """How large."""
    step = value + 1
    return step


def round_coupon(price):
    """A coupon's worth."""
    whole = price // 1
    coupon = whole + 1
    return coupon


class Kettle:
    sizes = {"small": 1}


class Teapot:
    sizes = {"small": 2}


def volume(thing, others=()):
    for other in others:
        thing = other
    return thing.sizes["small"]
'''
FILLER = "".join(f"\n\ndef unrelated_{n}(left, right):\n    return left + right\n" for n in range(120))


def suspects(
    folder: Path, request="", lines=frozenset(range(1, 26)), test="t.py::test_it", code=CODE + FILLER
):
    (folder / "shop.py").write_text(code, encoding="utf-8")
    results = (TestResult(test, Outcome.FAILED),)
    found = localize(folder, Baseline(results, {test: {"shop.py": lines}}, 1.0), request=request)
    return [suspect.line for suspect in found]


def test_what_the_request_speaks_of_leads_among_lines_that_ran_alike(tmp_path):
    assert suspects(tmp_path, "coupons come out too large")[0] in {10, 11}
    assert suspects(tmp_path, "the step is off")[0] in {3, 4}


def test_data_of_the_class_that_a_test_is_named_after_leads_its_like(tmp_path):
    ran = frozenset({23, 24, 25})
    for owner, line, other in (("Kettle", 15, 19), ("Teapot", 19, 15)):
        order = suspects(tmp_path, test=f"t.py::Test{owner}::test_sizes", lines=ran)
        assert order.index(line) < order.index(other)


def test_words_weigh_little_in_little_code(tmp_path):
    (tmp_path / "shop.py").write_text(CODE)
    tree = Syntax(SourceFile.read(tmp_path, "shop.py"))
    (tmp_path / "long.py").write_text(CODE + FILLER)
    larger = Syntax(SourceFile.read(tmp_path, "long.py"))
    topics = Topics({"coupon": 2.0}, {"round_coupon": 1.0})
    small, large = (Speaking(topics, {"shop.py": one}).factor(one.by_line[10]) for one in (tree, larger))
    most = 1.0
    for share in (speaking.OF_STATEMENT, speaking.OF_FUNCTION, speaking.OF_NAME, speaking.OF_CALL):
        most *= 1 + share
    assert 1 < small < large <= most


def test_no_words_change_nothing_and_no_code_is_no_trouble(tmp_path):
    (tmp_path / "shop.py").write_text(CODE)
    tree = Syntax(SourceFile.read(tmp_path, "shop.py"))
    silent = Speaking(Topics({}, {}), {"shop.py": tree})
    assert {silent.factor(node) for node in tree.statements} == {1.0}
    late = Speaking(Topics({"coupon": 1.0}, {}), {})
    late.add("shop.py", tree)
    assert all(late.factor(node) >= 1 for node in tree.statements)


def test_frames_are_read_from_the_message_where_the_runner_gave_none():
    message = (
        "t.py:3: in test_it\n    volume(1)\nshop.py:25: in volume\nE   KeyError\n\nshop.py:4: KeyError\n"
    )
    result = TestResult("t.py::test_it", Outcome.FAILED, 0.0, message)
    innermost, on_stack = frames_in(Baseline((result,), {}, 1.0), frozenset({"shop.py"}))
    assert innermost == {("shop.py", 4): 1} and on_stack == {("shop.py", 25): 1}


def test_a_pattern_comes_before_a_value_and_that_before_a_bare_declaration(tmp_path):
    data = 'import re\n\n\nLIMIT = 1\nCUT = re.compile("a$")\nKEPT: int\nSIZES = {"a": 1}\n'
    code = f"{data}\n\ndef run(text):\n    return CUT, LIMIT, KEPT, SIZES, text\n"
    order = suspects(tmp_path, lines=frozenset({11}), code=code)
    assert [line for line in order if line in {4, 5, 6, 7}] == [5, 7, 4, 6]


def test_the_first_lines_of_every_function_come_before_the_last_of_a_long_one(tmp_path):
    long = "def long(first):\n" + "".join(f"    part{n} = first + {n}\n" for n in range(40))
    code = long + "\n\ndef short(last):\n    return last - 1\n"
    order = suspects(tmp_path, lines=frozenset({*range(2, 42), 45}), code=code)
    assert order.index(45) < 5


def test_data_of_a_class_whose_methods_did_not_run_come_after_those_of_one_that_ran(tmp_path):
    kinds = "".join(
        f"class {n}:\n    size = ({n!r},)\n\n    def get(self):\n        return self.size\n\n\n" for n in "AB"
    )
    for ran, first, last in ((5, 2, 9), (12, 9, 2)):
        order = suspects(tmp_path, lines=frozenset({ran}), code=kinds)
        assert order.index(first) < order.index(last)
