"""Verdicts on candidates."""

from __future__ import annotations

from pathlib import Path

import pytest

from deskagent.errors import UsageError
from deskagent.repair.types import Status
from deskagent.terminal.sandbox import Unconfined, find_sandbox
from deskagent.terminal.types import Rung

# Plugins of the environment that runs these tests would only cost time.
BARE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


@pytest.mark.parametrize("rung", [Rung.BWRAP, Rung.LANDLOCK, Rung.NONE])
def test_candidates_get_their_verdicts_on_every_rung(
    project: Path, verifier_of, rung: Rung, source, fixed, tree
) -> None:
    try:
        sandbox = Unconfined() if rung is Rung.NONE else find_sandbox(rung)
    except UsageError as error:
        pytest.skip(f"no {rung} here: {error.message}")
    verifier = verifier_of(project, sandbox=sandbox, slots=2)
    verifier.baseline()
    before = tree(project)
    candidates = {
        fixed: (Status.GREEN, "all"),
        source.replace("LIMIT - 1", "LIMIT + 1"): (Status.RED, "failing"),
        fixed.replace(">= LIMIT", ">= 1"): (Status.RED, "affected"),
        fixed.replace("2 * value", "3 * value"): (Status.RED, "all"),
        source.replace("return value", "return value)"): (Status.BROKEN, "failing"),
        source.replace("import os", "import nothing_of_this_name"): (Status.BROKEN, "failing"),
        source.replace("if value", "while True: pass\n    if value"): (Status.TIMEOUT, "failing"),
        source.replace("if value", "os._exit(0)\n    if value"): (Status.CRASHED, "failing"),
        source.replace("if value", "os.abort()\n    if value"): (Status.CRASHED, "failing"),
    }
    futures = [(verifier.submit({"shop.py": text.encode()}), wanted) for text, wanted in candidates.items()]
    assert [(f.result(240).status, f.result().stage) for f, _ in futures] == [wanted for _, wanted in futures]
    assert tree(project) == before


def test_module_level_edits_are_seen_and_same_size_edits_are_never_taken_for_another(
    project: Path, verifier_of, source, write
) -> None:
    write(project, {"test_shop.py": "from shop import LIMIT\n\ndef test_limit():\n    assert LIMIT == 17\n"})
    verifier = verifier_of(project)
    verifier.baseline()
    texts = [source.replace("LIMIT = 10", f"LIMIT = {n}") for n in range(11, 20)]
    verdicts = [verifier.submit({"shop.py": text.encode()}).result(240).status for text in texts]
    assert verdicts == [Status.GREEN if n == 17 else Status.RED for n in range(11, 20)]


def test_equal_files_are_verified_once(project: Path, verifier_of, fixed) -> None:
    verifier = verifier_of(project)
    verifier.baseline()
    one = verifier.submit({"shop.py": fixed.encode()})
    assert verifier.submit({"shop.py": fixed.encode()}) is one


def test_a_conftest_that_imports_the_project_does_not_hide_edits(
    project: Path, verifier_of, source, write
) -> None:
    write(project, {
        "conftest.py": "import shop, pytest\n\n@pytest.fixture\ndef limit():\n    return shop.LIMIT\n",
        "test_shop.py": "def test_limit(limit):\n    assert limit == 12\n",
    })  # fmt: skip
    verifier = verifier_of(project)
    verifier.baseline()
    good, bad = (source.replace("LIMIT = 10", f"LIMIT = {n}") for n in (12, 13))
    assert verifier.submit({"shop.py": bad.encode()}).result(240).status is Status.RED
    assert verifier.submit({"shop.py": good.encode()}).result(240).status is Status.GREEN


def test_an_edit_of_a_conftest_is_seen(project: Path, verifier_of, write) -> None:
    conftest = "import pytest\n\n@pytest.fixture\ndef limit():\n    return 11\n"
    write(
        project, {"conftest.py": conftest, "test_shop.py": "def test_limit(limit):\n    assert limit == 12\n"}
    )
    verifier = verifier_of(project)
    verifier.baseline()
    assert (
        verifier.submit({"conftest.py": conftest.replace("11", "12").encode()}).result(240).status
        is Status.GREEN
    )


def test_a_candidate_that_makes_a_test_skip_or_vanish_is_not_green(
    project: Path, verifier_of, write, fixed
) -> None:
    write(project, {"test_shop.py": """\
import pytest
from shop import clamp, LIMIT

@pytest.mark.skipif(LIMIT != 10, reason="other limit")
def test_over():
    assert clamp(11) == 10

if LIMIT < 100:
    def test_under():
        assert clamp(1) == 1
"""})  # fmt: skip
    verifier = verifier_of(project)
    verifier.baseline()
    for limit in (12, 100):
        text = fixed.replace("LIMIT = 10", f"LIMIT = {limit}")
        assert verifier.submit({"shop.py": text.encode()}).result(240).status is Status.RED
    assert verifier.submit({"shop.py": fixed.encode()}).result(240).status is Status.GREEN


def test_a_candidate_that_damages_the_copy_does_not_spoil_the_next(
    project: Path, verifier_of, source, write
) -> None:
    write(project, {"data.txt": "10"})
    reading = source.replace(
        "LIMIT = 10", "LIMIT = int(open(os.path.dirname(__file__) + '/data.txt').read())"
    )
    write(project, {"shop.py": reading})
    verifier = verifier_of(project)
    verifier.baseline()
    damaging = reading.replace(
        "LIMIT = int", "LIMIT = 9; os.remove(os.path.dirname(__file__) + '/data.txt'); int"
    )
    assert verifier.submit({"shop.py": damaging.encode()}).result(240).status is not Status.GREEN
    good = reading.replace("LIMIT - 1", "LIMIT")
    assert verifier.submit({"shop.py": good.encode()}).result(240).status is Status.GREEN
    assert (project / "data.txt").read_text() == "10"


def test_a_test_files_rewriting_is_kept_where_no_bytecode_is_to_be_written(
    project: Path, verifier_of, fixed, tests, tmp_path, monkeypatch
) -> None:
    """Rewriting the assertions of a large file takes longer than its tests."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    seen = tmp_path / "seen"
    count = f"""\
import pathlib
kept = len(list(pathlib.Path(__file__).parent.glob("__pycache__/test_shop.*.pyc")))
with open({str(seen)!r}, "a") as file:
    file.write(str(kept))
"""
    (project / "test_shop.py").write_text(count + tests)
    verifier = verifier_of(project)
    verifier.baseline()
    assert set(seen.read_text()) <= {"0", "1"}
    seen.write_text("")
    assert verifier.submit({"shop.py": fixed.encode()}).result(60).status is Status.GREEN
    assert set(seen.read_text()) == {"1"}
    assert not list(project.rglob("*.pyc"))
