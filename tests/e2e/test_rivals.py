"""What the result says of patches that pass beside the chosen one, held against the patched programs themselves."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deskagent.repair import choose
from deskagent.terminal.sandbox import find_sandbox
from deskagent.terminal.types import Rung

pytestmark = pytest.mark.skipif(
    find_sandbox().rung is Rung.NONE, reason="inputs are made up in a sandbox only, and there is none here"
)

# Longer runs compare patches for a fixed time, in which a machine that is busy with other things may see nothing.
UNHURRIED = choose.MOST_SECONDS / choose.SHARE
AREA = {
    "calc.py": '''
        def area(width, height):
            """Width times height.

            >>> area(2, 5)
            10
            """
            return width + height
    ''',
    "test_calc.py": """
        from calc import area

        def test_square():
            assert area(3, 3) == 9
    """,
}
LAST = {
    "calc.py": '''
        def last(items):
            """The last of the items."""
            return items[1]
    ''',
    "test_calc.py": """
        from calc import last

        def test_three():
            assert last([4, 5, 6]) == 6
    """,
}
RUN = """
import sys, calc
try:
    print(repr(eval(sys.argv[1], vars(calc))))
except Exception as error:
    print(f"raises {type(error).__name__}: {error}")
"""


def first_tried(patches: list[dict[str, Any]]) -> dict[str, Any]:
    return min(patches, key=lambda patch: patch["candidate_index"])


@pytest.fixture
def compared(agent, project) -> Callable[..., tuple[dict[str, Any], Path]]:
    """Repairs a program, the tree left alone: the result, in which patches were compared, and the tree's folder."""

    def repair(files: dict[str, str], request: str) -> tuple[dict[str, Any], Path]:
        folder = project(files)
        words = (request, "--test", "python -m pytest -q", "--max-candidates", "40", "--no-apply")
        took: list[float] = []
        while len(took) < 3:
            done = agent.fix(*words, cwd=folder)
            assert (done.code, done.result["status"]) == (0, "fixed"), (done.stdout, done.stderr)
            rivals = done.result["alternatives"]
            compared = done.result["patch"]["cluster"] and first_tried(rivals)["cluster"]
            if compared and any(rival["separation"] for rival in rivals):
                return done.result, folder
            took.append(done.result["seconds"])
        if max(took) > UNHURRIED or os.getloadavg()[0] > (os.cpu_count() or 1):
            pytest.skip("this machine is too busy for patches to be compared in the time they are given")
        pytest.fail(f"patches were never compared, in runs of {took} s")

    return repair


@pytest.fixture
def outcome(tmp_path: Path, git: Callable[..., str]) -> Callable[[Path, str, str], str]:
    """What a call gives in a copy of a tree with a diff applied."""

    def of(folder: Path, diff: str, call: str) -> str:
        copy = tmp_path / "patched"
        shutil.copytree(folder, copy)
        try:
            if diff:
                git(copy, "apply", "-", stdin=diff)
            command = [sys.executable, "-B", "-c", RUN, call]
            return subprocess.run(
                command, cwd=copy, check=True, capture_output=True, text=True
            ).stdout.strip()
        finally:
            shutil.rmtree(copy)

    return of


def test_the_first_green_patch_was_wrong_and_a_later_right_one_is_chosen(compared, outcome):
    result, folder = compared(AREA, "area adds instead of multiplying")
    patch, rivals = result["patch"], result["alternatives"]
    first = first_tried(rivals)
    assert first["candidate_index"] < patch["candidate_index"]
    assert outcome(folder, patch["diff"], "[area(a, b) for a in range(5) for b in range(5)]") == repr(
        [a * b for a in range(5) for b in range(5)]
    )
    assert outcome(folder, first["diff"], "area(3, 3)") == "9"
    assert outcome(folder, first["diff"], "area(2, 5)") != "10"
    # The example in the docstring, which no test runs, is what speaks against it.
    (stated,) = [reason for reason in first["reasons"] if reason["sign"] == "example"]
    assert stated["weight"] < 0 and "area(2, 5)" in stated["text"]
    assert not [reason for reason in patch["reasons"] if reason["sign"] == "example"]


@pytest.mark.parametrize(
    ("files", "request_"), [(AREA, "area adds instead of multiplying"), (LAST, "last gives the second item")]
)
def test_what_separates_patches_is_so(compared, outcome, files, request_):
    result, folder = compared(files, request_)
    patch, rivals = result["patch"], result["alternatives"]
    assert rivals and patch["cluster"] == 1
    for each in (patch, *rivals):
        assert each["reasons"] and all(r["sign"] and math.isfinite(r["weight"]) for r in each["reasons"])
        assert all(isinstance(r["text"], str) for r in each["reasons"])
        assert each["score"] == pytest.approx(sum(r["weight"] for r in each["reasons"]), abs=0.02)
    scores = [each["score"] for each in (patch, *rivals)]
    assert scores == sorted(scores, reverse=True)

    apart = [rival for rival in rivals if rival["separation"]]
    tests = (folder / "test_calc.py").read_text()
    for rival in apart:
        call, outputs = rival["separation"]["input"], rival["separation"]["outputs"]
        assert rival["cluster"] != patch["cluster"]
        assert rival["separation"]["made_up"] is (call not in tests + (folder / "calc.py").read_text())
        assert call in rival["apart"]
        real = {
            "chosen": outcome(folder, patch["diff"], call),
            "this": outcome(folder, rival["diff"], call),
            "unedited": outcome(folder, "", call),
        }
        assert outputs == real and real["chosen"] != real["this"]
    alike = [rival for rival in rivals if rival["cluster"] == patch["cluster"]]
    assert all(rival["separation"] is None for rival in alike)
