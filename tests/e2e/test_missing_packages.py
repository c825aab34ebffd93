"""Tests that can't be imported for want of a package: said at once, nothing is tried; a slip in a name is a fault."""

from __future__ import annotations

import pytest

TEST = "{imported}\nfrom calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
CALC = "def add(a, b):\n    return a + b\n"
RUNNERS = ("python -m pytest -q", "python -m unittest -q test_calc")


@pytest.mark.parametrize("runner", RUNNERS)
def test_a_package_is_missing(agent, project, snapshot, runner):
    folder = project({"calc.py": CALC, "test_calc.py": TEST.format(imported="import zzqx_toolkit.parts")})
    before = snapshot(folder)
    done = agent.fix("tests fail", "--test", runner, cwd=folder)
    assert done.code == 2, (done.stdout, done.stderr)
    assert done.result["exit_code"] == 2
    assert "`zzqx_toolkit`" in done.result["error"]["message"]
    assert "--test" in done.result["error"]["hint"]
    assert snapshot(folder) == before


def test_a_conftest_needs_it(agent, project):
    folder = project(
        {"calc.py": CALC, "test_calc.py": TEST.format(imported=""), "conftest.py": "import zzqx_toolkit\n"}
    )
    done = agent.fix("tests fail", "--test", RUNNERS[0], cwd=folder)
    assert done.code == 2, (done.stdout, done.stderr)
    assert "`zzqx_toolkit`" in done.result["error"]["message"]


def test_a_slip_in_a_name_is_repaired(agent, project):
    files = {"calc.py": "import jsonn\n\n\n" + CALC + "\n\ndef text(a):\n    return jsonn.dumps(a)\n"}
    folder = project({**files, "test_calc.py": TEST.format(imported="")})
    done = agent.fix("tests fail", "--test", RUNNERS[0], "--max-candidates", "200", cwd=folder)
    assert done.result["status"] != "error", (done.stdout, done.stderr)
