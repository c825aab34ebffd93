"""Five bugs in five small projects, repaired by the installed command from the shell."""

from __future__ import annotations

import pytest

from deskagent.errors import DeskagentError
from deskagent.terminal.sandbox import find_sandbox
from deskagent.terminal.types import Rung

MEDIAN = """
    def median(numbers):
        ordered = sorted(numbers)
        middle = len(ordered) // 2
        if len(ordered) % 2 == 0:
            return ordered[middle]
        return (ordered[middle - 1] + ordered[middle]) / 2
"""
MEDIAN_TEST = """
    from median import median

    def test_odd():
        assert median([3, 1, 2]) == 2

    def test_even():
        assert median([4, 1, 3, 2]) == 2.5

    def test_five():
        assert median([9, 7, 1, 1, 5]) == 5
"""


def fixed(done, *, path):
    """The facts that hold for every success."""
    assert done.code == 0, (done.stdout, done.stderr)
    result = done.result
    assert result["type"] == "result"
    assert (result["status"], result["exit_code"], result["is_error"]) == ("fixed", 0, False)
    assert [file["path"] for file in result["patch"]["files"]] == [path]
    assert f"--- a/{path}\n+++ b/{path}\n" in result["patch"]["diff"]
    assert result["evidence"]["failed_before_pass_now"]
    assert result["candidates"] >= result["patch"]["candidate_index"] >= 1
    return result


def test_plain_folder(agent, project, snapshot):
    folder = project({"median.py": MEDIAN, "test_median.py": MEDIAN_TEST, "notes.txt": "keep\n"}, git=False)
    before = snapshot(folder)
    result = fixed(agent.fix("median is wrong", "--test", "pytest -q", cwd=folder), path="median.py")
    after = snapshot(folder)
    assert {path for path in before if before[path] != after.get(path)} == {"median.py"}
    assert b"% 2 == 0" not in after["median.py"][1]
    assert "test_median.py::test_even" in result["evidence"]["failed_before_pass_now"]


def test_crlf(agent, project, git):
    source = (
        "# prices – of a shop\n"
        "def total(prices, discount):\n"
        '    """The sum, less a discount in percent."""   \n'
        "    amount = sum(prices)\n"
        "    return amount + amount * discount / 100\n"
        "\n"
        "\n"
        "def cheapest(prices):\n"
        "\treturn min(prices)"
    )
    before = source.replace("\n", "\r\n").encode()
    test = """
        from shop import cheapest, total

        def test_no_discount():
            assert total([1, 2], 0) == 3

        def test_discount():
            assert total([50, 50], 10) == 90

        def test_half():
            assert total([8], 50) == 4

        def test_cheapest():
            assert cheapest([3, 2]) == 2
    """
    folder = project({"shop.py": before, "tests/test_shop.py": test})
    fixed(
        agent.fix("the discount is added", "--test", "python -m pytest -q tests", cwd=folder), path="shop.py"
    )
    after = (folder / "shop.py").read_bytes()
    assert after == before.replace(b"amount + amount", b"amount - amount")
    assert git(folder, "status", "--porcelain").split() == ["M", "shop.py"]


def test_landlock(agent, project):
    try:
        find_sandbox(Rung.LANDLOCK)
    except DeskagentError as error:
        pytest.skip(str(error))
    source = """
        def grade(points):
            if points > 90:
                return "A"
            if points > 75:
                return "B"
            return "C"
    """
    test = """
        import pytest
        from school.grades import grade

        @pytest.mark.parametrize("points, expected", [(95, "A"), (91, "A"), (80, "B"), (76, "B"), (10, "C"), (90, "B")])
        def test_grade(points, expected):
            assert grade(points) == expected

        def test_limit():
            assert grade(75) == "B"
    """
    folder = project({"school/__init__.py": "", "school/grades.py": source, "tests/test_grades.py": test})
    done = agent.fix("75 points are a B", "--test", "python -m pytest -q", cwd=folder, rung="landlock")
    result = fixed(done, path="school/grades.py")
    assert result["sandbox"] == "landlock"
    assert "points >= 75" in (folder / "school/grades.py").read_text()


def test_unittest(agent, project):
    source = """
        class Stack:
            def __init__(self):
                self._items = []

            def push(self, item):
                self._items.append(item)

            def pop(self):
                return self._items.pop(0)

            def __len__(self):
                return len(self._items)
    """
    test = """
        import unittest
        from stack import Stack

        class StackTest(unittest.TestCase):
            def setUp(self):
                self.stack = Stack()
                for item in "abc":
                    self.stack.push(item)

            def test_length(self):
                self.assertEqual(len(self.stack), 3)

            def test_pop(self):
                self.assertEqual(self.stack.pop(), "c")
                self.assertEqual(len(self.stack), 2)

            def test_order(self):
                self.assertEqual([self.stack.pop() for _ in range(3)], ["c", "b", "a"])
    """
    folder = project({"stack.py": source, "tests/__init__.py": "", "tests/test_stack.py": test})
    words = ("pop takes the wrong end", "--test", "python -m unittest discover -s tests -t .")
    result = fixed(agent.fix(*words, cwd=folder), path="stack.py")
    assert result["test_command"]["runner"] == "unittest"
    assert "tests.test_stack.StackTest.test_pop" in result["evidence"]["failed_before_pass_now"]


def test_src_layout(agent, project, git):
    files = {
        "pyproject.toml": '[project]\nname = "parcel"\n[tool.pytest.ini_options]\npythonpath = ["src"]\n',
        "src/parcel/__init__.py": "from parcel.rates import postage\n",
        "src/parcel/zones.py": """
            ZONES = {"home": 1.0, "near": 1.5, "far": 3.0}


            def factor(zone):
                return ZONES[zone]
        """,
        "src/parcel/rates.py": """
            from parcel.zones import factor

            BASE = 4.0
            HEAVY = 10


            def postage(weight, zone):
                \"\"\"The price of a parcel; heavy ones cost half as much again.\"\"\"
                price = BASE * factor(zone)
                if weight < HEAVY:
                    price *= 1.5
                return price
        """,
        "tests/test_rates.py": """
            from parcel import postage

            def test_light():
                assert postage(2, "home") == 4.0

            def test_heavy():
                assert postage(12, "near") == 9.0

            def test_far():
                assert postage(1, "far") == 12.0
        """,
        "tests/test_zones.py": """
            from parcel.zones import factor

            def test_far():
                assert factor("far") == 3.0
        """,
    }
    folder = project(files)
    words = ("light parcels are charged as heavy ones", "--test", "pytest -q", "--no-apply")
    result = fixed(agent.fix(*words, cwd=folder), path="src/parcel/rates.py")
    assert result["applied"] is False
    assert git(folder, "status", "--porcelain") == ""
    again = fixed(agent.fix(*words[:3], cwd=folder), path="src/parcel/rates.py")
    assert again["applied"] is True
    assert git(folder, "status", "--porcelain").split() == ["M", "src/parcel/rates.py"]
