"""What the first look at all tests tells."""

from __future__ import annotations

import time
from pathlib import Path

from deskagent.repair.cold import run_cold
from deskagent.repair.types import Outcome, Status
from deskagent.terminal.sandbox import Unconfined

# Plugins of the environment that runs these tests would only cost time.
BARE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def test_the_first_look_tells_results_coverage_and_where_it_failed(
    project: Path, verifier_of, outcomes, tree
) -> None:
    before = tree(project)
    baseline = verifier_of(project).baseline()
    assert outcomes(baseline) == {
        "test_shop.py::test_over": "failed",
        "test_shop.py::test_edge": "failed",
        "test_shop.py::test_under[1]": "passed",
        "test_shop.py::test_under[2]": "passed",
        "test_shop.py::test_under[x::y - [z]]": "passed",
        "test_shop.py::test_double": "passed",
    }
    assert baseline.coverage["test_shop.py::test_over"] == {"shop.py": {7, 8}}
    assert baseline.coverage["test_shop.py::test_double"] == {"shop.py": {13}}
    assert baseline.coverage[""] == {"shop.py": {1, 3, 6, 12}}
    failed = baseline.failing[0]
    assert failed.frames[0].path == "test_shop.py" and failed.frames[0].function == "test_over"
    assert "assert 9 == 10" in failed.message
    assert baseline.runner == "pytest"
    assert tree(project) == before


def test_hanging_and_crashing_tests_are_told_and_the_others_still_run(
    project: Path, verifier_of, source, write, outcomes
) -> None:
    write(project, {
        "shop.py": source + "\n\ndef spin():\n    n = 0\n    while n >= 0:\n        n += 1\n",
        "test_other.py": """\
import os
from shop import spin, double

def test_hangs():
    spin()

def test_dies():
    os.abort()

def test_fine():
    assert double(1) == 2
""",
    })  # fmt: skip
    baseline = verifier_of(project).baseline(test_seconds=0.5)
    found = outcomes(baseline)
    assert found["test_other.py::test_hangs"] == "timeout"
    assert found["test_other.py::test_dies"] == "error"
    assert found["test_other.py::test_fine"] == "passed"
    assert found["test_shop.py::test_double"] == "passed"
    assert baseline.coverage["test_other.py::test_hangs"]["shop.py"] >= {17, 18, 19}
    hanging = next(r for r in baseline.results if r.outcome is Outcome.TIMEOUT)
    assert [f.function for f in hanging.frames][-1] == "spin"
    assert "signal 6" in next(r for r in baseline.results if r.id == "test_other.py::test_dies").message


def test_the_first_look_at_tests_that_all_hang_ends_in_time(
    project: Path, verifier_of, write, outcomes
) -> None:
    sleepers = "".join(f"def test_sleeps_{n}():\n    time.sleep(600)\n\n" for n in range(20))
    write(project, {"test_shop.py": f"import time\n\n{sleepers}"})
    verifier = verifier_of(project)
    started = time.monotonic()
    found = outcomes(verifier.baseline(seconds=2))
    assert time.monotonic() - started < 60  # each on its own would take over three seconds, several times
    assert set(found.values()) == {"timeout"}
    assert len(found) < 20


def test_a_tree_that_does_not_compile_is_an_error_of_the_file(
    project: Path, verifier_of, source, write, fixed, outcomes
) -> None:
    write(project, {"shop.py": source.replace("return value", "return value)")})
    verifier = verifier_of(project)
    baseline = verifier.baseline()
    assert outcomes(baseline) == {"test_shop.py": "error"}
    assert baseline.failing[0].frames[-1].path == "shop.py"
    assert baseline.failing[0].frames[-1].line == 9
    assert verifier.submit({"shop.py": source.encode()}).result(240).status is Status.RED
    assert verifier.submit({"shop.py": fixed.encode()}).result(240).status is Status.GREEN


def test_a_conftest_that_fails_is_an_error_of_the_whole(
    project: Path, verifier_of, write, fixed, outcomes
) -> None:
    write(project, {"conftest.py": "import shop\nshop.start()\n"})
    verifier = verifier_of(project)
    baseline = verifier.baseline()
    assert outcomes(baseline) == {"": "error"}
    assert "has no attribute 'start'" in baseline.failing[0].message
    assert baseline.failing[0].frames[-1].path == "conftest.py"
    mended = fixed + "\n\ndef start():\n    pass\n"
    assert verifier.submit({"shop.py": fixed.encode()}).result(240).status is Status.BROKEN
    assert verifier.submit({"shop.py": mended.encode()}).result(240).status is Status.GREEN


def test_options_that_hide_results_are_taken_back(
    project: Path, verifier_of, write, with_pytest, outcomes
) -> None:
    write(
        project,
        {"pytest.ini": "[pytest]\naddopts = -x --maxfail=1 --lf --tb=no -n 2 -k 'over or edge or double'\n"},
    )
    found = outcomes(verifier_of(project, with_pytest("--ff", "-p", "xdist")).baseline())
    assert found == {
        "test_shop.py::test_over": "failed",
        "test_shop.py::test_edge": "failed",
        "test_shop.py::test_double": "passed",
    }


def test_tests_below_another_folder_with_a_root_of_their_own(
    project: Path, verifier_of, tests, write, with_pytest, fixed, outcomes
) -> None:
    (project / "test_shop.py").unlink()
    write(project, {
        "sub/pytest.ini": "[pytest]\npythonpath = ..\n",
        "sub/tests/test_shop.py": tests,
        "sub/tests/conftest.py": "import pytest\n\n@pytest.fixture(autouse=True)\ndef deep():\n    yield\n",
    })  # fmt: skip
    command = with_pytest("sub/tests")
    verifier = verifier_of(project, command)
    assert outcomes(verifier.baseline())["tests/test_shop.py::test_over"] == "failed"
    assert verifier.submit({"shop.py": fixed.encode()}).result(240).status is Status.GREEN


def test_skips_and_expected_failures_neither_fail_nor_pass(
    project: Path, verifier_of, write, outcomes
) -> None:
    write(project, {"test_more.py": """\
import pytest, unittest
from shop import clamp

@pytest.mark.skip
def test_skipped(): pass

@pytest.mark.xfail
def test_expected(): assert clamp(11) == 10

@pytest.mark.xfail(strict=True)
def test_strict(): assert clamp(10) == 10

class TestOld(unittest.TestCase):
    @unittest.expectedFailure
    def test_old(self): self.assertEqual(clamp(11), 10)

    def test_subtests(self):
        for n in (9, 10):
            with self.subTest(n=n):
                self.assertEqual(clamp(n), n)

@pytest.fixture
def broken(): raise OSError("no such machine")

def test_setup(broken): pass
"""})  # fmt: skip
    verifier = verifier_of(project)
    found = outcomes(verifier.baseline())
    assert {n.rpartition("::")[2]: o for n, o in found.items() if n.startswith("test_more")} == {
        "test_skipped": "skipped",
        "test_expected": "skipped",
        "test_strict": "skipped",
        "test_old": "skipped",
        "test_subtests": "failed",
        "test_setup": "error",
    }


def test_threads_and_foreign_modules_of_a_conftest(
    project: Path, verifier_of, tests, write, fixed, outcomes
) -> None:
    write(project, {
        "conftest.py": """\
import threading, time
threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
""",
        "test_shop.py": tests + "\n\ndef test_decimal():\n    import decimal\n    assert decimal.Decimal(1) == 1\n",
    })  # fmt: skip
    verifier = verifier_of(project)
    assert outcomes(verifier.baseline())["test_shop.py::test_decimal"] == "passed"
    assert verifier.submit({"shop.py": fixed.encode()}).result(240).status is Status.GREEN


def test_flaky_tests_are_not_counted(project: Path, verifier_of, tmp_path: Path, tests, write, fixed) -> None:
    flaky = f"""

def test_flaky():
    path = {str(tmp_path / "count")!r}
    with open(path, "a") as file:
        file.write("x")
    assert len(open(path).read()) < 3
"""
    write(project, {"test_shop.py": tests + flaky})
    verifier = verifier_of(project)
    verifier.baseline()
    assert verifier.flaky == {"test_shop.py::test_flaky"}
    assert verifier.submit({"shop.py": fixed.encode()}).result(240).status is Status.GREEN


def test_a_module_with_a_name_of_the_standard_library_is_the_project_s(
    project: Path, verifier_of, source, tests, write, fixed, outcomes
) -> None:
    write(project, {"resource.py": source, "test_shop.py": tests.replace("from shop", "from resource")})
    verifier = verifier_of(project)
    assert outcomes(verifier.baseline())["test_shop.py::test_over"] == "failed"
    assert verifier.submit({"resource.py": fixed.encode()}).result(240).status is Status.GREEN


def test_a_test_that_ends_the_run_does_not_hide_the_others(
    project: Path, verifier_of, write, outcomes
) -> None:
    write(project, {"test_early.py": "def test_ends():\n    raise KeyboardInterrupt\n"})
    found = outcomes(verifier_of(project).baseline())
    assert found["test_early.py::test_ends"] == "error"
    assert found["test_shop.py::test_double"] == "passed"


def test_what_fails_in_the_worker_alone_is_set_aside(
    project: Path, verifier_of, tests, write, with_pytest, fixed
) -> None:
    write(project, {
        "test_shop.py": tests + """

def test_runner():
    import sys
    assert "deskagent_worker" not in sys.modules
""",
    })  # fmt: skip
    command = with_pytest("-q")
    cold = run_cold(project, command, sandbox=Unconfined())
    verifier = verifier_of(project, command)
    verifier.baseline(cold=cold)
    assert verifier.flaky == {"test_shop.py::test_runner"}
    assert verifier.submit({"shop.py": fixed.encode()}).result(240).status is Status.GREEN


def test_green_from_the_start(project: Path, verifier_of, write, fixed) -> None:
    write(project, {"shop.py": fixed})
    verifier = verifier_of(project)
    baseline = verifier.baseline()
    assert verifier.warm and not baseline.failing and len(baseline.passing) == 6


def test_workers_that_were_prepared_see_the_same(project: Path, verifier_of, outcomes) -> None:
    plain, begun, looked = (verifier_of(project, slots=2) for _ in range(3))
    begun.prepare(60.0)
    looked.prepare(60.0, look_too=True)
    found = [verifier.baseline() for verifier in (plain, begun, looked)]
    assert outcomes(found[0]) == outcomes(found[1]) == outcomes(found[2])
    assert found[0].coverage == found[1].coverage
    assert not found[2].coverage, "a tracer takes too long where there is a hurry"
    assert looked.warm


def test_what_was_looked_at_ahead_and_cut_off_is_looked_at_again(
    project: Path, verifier_of, write, outcomes, with_pytest
) -> None:
    busy = "import time\n\n\ndef test_busy():\n    while time.process_time() < 4.5:\n        pass\n    assert False\n"
    write(project, {"test_shop.py": busy})
    verifier = verifier_of(project)
    verifier.prepare(60.0, look_too=True)
    cold = run_cold(project, with_pytest("-q"), sandbox=Unconfined())
    assert outcomes(verifier.baseline(cold=cold)) == {"test_shop.py::test_busy": "failed"}
