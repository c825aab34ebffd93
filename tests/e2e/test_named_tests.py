"""A request that names some of the failing tests, where others fail for reasons of their own."""

from __future__ import annotations

import pytest

TEST = """
    import os, unittest
    from calc import add, double

    class T(unittest.TestCase):
        def test_add(self):
            self.assertEqual(add(1, 2), 3)

        def test_zero(self):
            self.assertEqual(add(0, 0), 0)

        def test_here(self):
            self.assertEqual(os.environ.get("NOBODY_SETS_THIS"), "yes")

        def test_here_too(self):
            self.assertEqual(os.environ.get("NOR_THIS"), "yes")
"""
CALC = """
    def add(a, b):
        return a - b

    def double(a):
        return 2 * a
"""
LEFT = {
    "python -m pytest -q": ["test_calc.py::T::test_here", "test_calc.py::T::test_here_too"],
    "python -m unittest -q": ["test_calc.T.test_here", "test_calc.T.test_here_too"],
}


@pytest.mark.parametrize("line", LEFT)
def test_what_is_named_is_repaired_and_the_rest_is_said(agent, project, line):
    folder = project({"calc.py": CALC, "test_calc.py": TEST})
    done = agent.fix("test_add fails", "--test", line, "--max-candidates", "8", cwd=folder)
    assert done.code == 0, (done.stdout, done.stderr)
    evidence = done.result["evidence"]
    assert done.result["status"] == "fixed" and done.result["applied"]
    assert evidence["fail_as_before"] == LEFT[line]
    assert [name.rpartition("test_")[2] for name in evidence["failed_before_pass_now"]] == ["add"]
    assert (evidence["before"]["failed"], evidence["after"]["failed"]) == (3, 2)
    assert (folder / "calc.py").read_text().count("a + b") == 1

    session = done.result["session_id"]
    verified = agent.run([*agent.command, "verify", session, "--output-format", "json"], folder)
    assert (verified.code, verified.result["status"]) == (0, "holds")
    again = agent.fix("-c", cwd=folder).result
    assert (again["status"], again["apply_note"]) == ("fixed", "by an earlier run of this session")
    assert again["evidence"]["fail_as_before"] == LEFT[line]


def test_a_patch_that_repairs_the_unnamed_too_comes_first(agent, project):
    calc = """
        def size(text):
            return len(text.split())

        def total(rows):
            return sum(size(row) + 1 for row in rows)
    """
    test = """
        from calc import size, total

        def test_total():
            assert total(["a b"]) == 2

        def test_totals():
            assert total(["a b", "c"]) == 3

        def test_size():
            assert size("a b") == 2

        def test_none():
            assert total([]) == 0
    """
    folder = project({"calc.py": calc, "test_calc.py": test})
    words = ("test_total fails", "--test", "python -m pytest -q", "--max-candidates", "40")
    done = agent.fix(*words, cwd=folder)
    assert done.code == 0, (done.stdout, done.stderr)
    assert done.result["evidence"]["fail_as_before"] == []
    assert done.result["evidence"]["after"]["exit_code"] == 0


def test_a_run_that_stops_early_shows_nothing_of_the_others(agent, project):
    folder = project({"calc.py": CALC, "test_calc.py": TEST})
    words = ("test_add fails", "--test", "python -m pytest -qx", "--max-candidates", "4")
    done = agent.fix(*words, cwd=folder)
    assert (done.code, done.result["applied"]) != (0, True)
    assert "a - b" in (folder / "calc.py").read_text()
