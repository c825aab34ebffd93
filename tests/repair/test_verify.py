from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from deskagent.errors import UsageError
from deskagent.repair.cold import run_cold
from deskagent.repair.command import TestCommand
from deskagent.repair.slot import Closed
from deskagent.repair.types import Outcome, Status
from deskagent.repair.verify import Verifier
from deskagent.terminal.sandbox import Sandbox, Unconfined, find_sandbox
from deskagent.terminal.types import Rung

SOURCE = """\
import os

LIMIT = 10


def clamp(value):
    if value >= LIMIT:
        return LIMIT - 1
    return value


def double(value):
    return 2 * value
"""
FIXED = SOURCE.replace("LIMIT - 1", "LIMIT")
TESTS = """\
import pytest
from shop import clamp, double

def test_over():
    assert clamp(11) == 10

def test_edge():
    assert clamp(10) == 10

@pytest.mark.parametrize("value", [1, 2, "x::y - [z]"])
def test_under(value):
    if isinstance(value, int):
        assert clamp(value) == value

def test_double():
    assert double(2) == 4
"""


# Plugins of the environment that runs these tests would only cost time.
BARE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def pytest_command(*args: str, module: bool = True) -> TestCommand:
    python = sys.executable
    argv = (python, "-m", "pytest", *args) if module else (str(Path(python).with_name("pytest")), *args)
    return TestCommand(" ".join(argv), argv, "pytest", Path(python), args, BARE, as_module=module)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    write(folder, {"shop.py": SOURCE, "test_shop.py": TESTS})
    return folder


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


@pytest.fixture
def verifier_of() -> Iterator:
    with ExitStack() as stack:

        def make(
            project: Path, command: TestCommand | None = None, sandbox: Sandbox | None = None, slots: int = 1
        ):
            command = command or pytest_command("-q")
            return stack.enter_context(
                Verifier(project, command, sandbox=sandbox or Unconfined(), slots=slots)
            )

        yield make


def outcomes(baseline) -> dict[str, str]:
    return {r.id: r.outcome.value for r in baseline.results}


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_the_first_look_tells_results_coverage_and_where_it_failed(project: Path, verifier_of) -> None:
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


@pytest.mark.parametrize("rung", [Rung.BWRAP, Rung.LANDLOCK, Rung.NONE])
def test_candidates_get_their_verdicts_on_every_rung(project: Path, verifier_of, rung: Rung) -> None:
    try:
        sandbox = Unconfined() if rung is Rung.NONE else find_sandbox(rung)
    except UsageError as error:
        pytest.skip(f"no {rung} here: {error.message}")
    verifier = verifier_of(project, sandbox=sandbox, slots=2)
    verifier.baseline()
    before = tree(project)
    candidates = {
        FIXED: (Status.GREEN, "all"),
        SOURCE.replace("LIMIT - 1", "LIMIT + 1"): (Status.RED, "failing"),
        FIXED.replace(">= LIMIT", ">= 1"): (Status.RED, "affected"),
        FIXED.replace("2 * value", "3 * value"): (Status.RED, "all"),
        SOURCE.replace("return value", "return value)"): (Status.BROKEN, "failing"),
        SOURCE.replace("import os", "import nothing_of_this_name"): (Status.BROKEN, "failing"),
        SOURCE.replace("if value", "while True: pass\n    if value"): (Status.TIMEOUT, "failing"),
        SOURCE.replace("if value", "os._exit(0)\n    if value"): (Status.CRASHED, "failing"),
        SOURCE.replace("if value", "os.abort()\n    if value"): (Status.CRASHED, "failing"),
    }
    futures = [(verifier.submit({"shop.py": text.encode()}), wanted) for text, wanted in candidates.items()]
    assert [(f.result(240).status, f.result().stage) for f, _ in futures] == [wanted for _, wanted in futures]
    assert tree(project) == before


def test_module_level_edits_are_seen_and_same_size_edits_are_never_taken_for_another(
    project: Path, verifier_of
) -> None:
    write(project, {"test_shop.py": "from shop import LIMIT\n\ndef test_limit():\n    assert LIMIT == 17\n"})
    verifier = verifier_of(project)
    verifier.baseline()
    texts = [SOURCE.replace("LIMIT = 10", f"LIMIT = {n}") for n in range(11, 20)]
    verdicts = [verifier.submit({"shop.py": text.encode()}).result(240).status for text in texts]
    assert verdicts == [Status.GREEN if n == 17 else Status.RED for n in range(11, 20)]


def test_equal_files_are_verified_once(project: Path, verifier_of) -> None:
    verifier = verifier_of(project)
    verifier.baseline()
    one = verifier.submit({"shop.py": FIXED.encode()})
    assert verifier.submit({"shop.py": FIXED.encode()}) is one


def test_a_worker_that_is_killed_by_a_test_is_replaced(project: Path, verifier_of) -> None:
    verifier = verifier_of(project)
    verifier.baseline()
    deadly = SOURCE.replace("if value", "os.kill(os.getppid(), 9)\n    if value")
    stopping = SOURCE.replace("if value", "os.closerange(3, 5000)\n    if value")
    assert verifier.submit({"shop.py": deadly.encode()}).result(240).status is Status.CRASHED
    assert verifier.submit({"shop.py": stopping.encode()}).result(240).status is Status.CRASHED
    assert verifier.submit({"shop.py": FIXED.encode()}).result(240).status is Status.GREEN


def test_nothing_that_a_candidate_starts_is_left(project: Path, verifier_of, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    verifier = verifier_of(project)
    verifier.baseline()
    started = f"""\
    reader, writer = os.pipe()
    if not os.fork():
        os.setsid()
        if os.fork():
            os._exit(0)
        open({str(note)!r}, "w").write(str(os.getpid()))
        os.write(writer, b"x")
        os.execvp("sleep", ["sleep", "600"])
    os.read(reader, 1)
    if value"""
    daemon = FIXED.replace("    if value", started, 1)
    verdict = verifier.submit({"shop.py": daemon.encode()}).result(240)
    assert verdict.status is Status.GREEN
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), 0)


def test_a_flood_of_output_and_of_memory_is_survived(project: Path, verifier_of) -> None:
    verifier = verifier_of(project)
    verifier.baseline()
    flood = FIXED.replace("    if value", "    os.write(1, b'x' * (1 << 24))\n    if value")
    hungry = FIXED.replace("    if value", "    [b'x' * (1 << 32)]\n    if value")
    assert verifier.submit({"shop.py": flood.encode()}).result(240).status is Status.GREEN
    assert verifier.submit({"shop.py": hungry.encode()}).result(240).status is not Status.GREEN
    assert verifier.submit({"shop.py": FIXED.encode()}).result(240).status is Status.GREEN


def test_hanging_and_crashing_tests_are_told_and_the_others_still_run(project: Path, verifier_of) -> None:
    write(project, {
        "shop.py": SOURCE + "\n\ndef spin():\n    n = 0\n    while n >= 0:\n        n += 1\n",
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


def test_the_first_look_at_tests_that_all_hang_ends_in_time(project: Path, verifier_of) -> None:
    sleepers = "".join(f"def test_sleeps_{n}():\n    time.sleep(600)\n\n" for n in range(20))
    write(project, {"test_shop.py": f"import time\n\n{sleepers}"})
    verifier = verifier_of(project)
    started = time.monotonic()
    found = outcomes(verifier.baseline(seconds=2))
    assert time.monotonic() - started < 60  # each on its own would take over three seconds, several times
    assert set(found.values()) == {"timeout"}
    assert len(found) < 20


def test_a_tree_that_does_not_compile_is_an_error_of_the_file(project: Path, verifier_of) -> None:
    write(project, {"shop.py": SOURCE.replace("return value", "return value)")})
    verifier = verifier_of(project)
    baseline = verifier.baseline()
    assert outcomes(baseline) == {"test_shop.py": "error"}
    assert baseline.failing[0].frames[-1].path == "shop.py"
    assert baseline.failing[0].frames[-1].line == 9
    assert verifier.submit({"shop.py": SOURCE.encode()}).result(240).status is Status.RED
    assert verifier.submit({"shop.py": FIXED.encode()}).result(240).status is Status.GREEN


def test_a_conftest_that_fails_is_an_error_of_the_whole(project: Path, verifier_of) -> None:
    write(project, {"conftest.py": "import shop\nshop.start()\n"})
    verifier = verifier_of(project)
    baseline = verifier.baseline()
    assert outcomes(baseline) == {"": "error"}
    assert "has no attribute 'start'" in baseline.failing[0].message
    assert baseline.failing[0].frames[-1].path == "conftest.py"
    mended = FIXED + "\n\ndef start():\n    pass\n"
    assert verifier.submit({"shop.py": FIXED.encode()}).result(240).status is Status.BROKEN
    assert verifier.submit({"shop.py": mended.encode()}).result(240).status is Status.GREEN


def test_a_conftest_that_imports_the_project_does_not_hide_edits(project: Path, verifier_of) -> None:
    write(project, {
        "conftest.py": "import shop, pytest\n\n@pytest.fixture\ndef limit():\n    return shop.LIMIT\n",
        "test_shop.py": "def test_limit(limit):\n    assert limit == 12\n",
    })  # fmt: skip
    verifier = verifier_of(project)
    verifier.baseline()
    good, bad = (SOURCE.replace("LIMIT = 10", f"LIMIT = {n}") for n in (12, 13))
    assert verifier.submit({"shop.py": bad.encode()}).result(240).status is Status.RED
    assert verifier.submit({"shop.py": good.encode()}).result(240).status is Status.GREEN


def test_an_edit_of_a_conftest_is_seen(project: Path, verifier_of) -> None:
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


def test_options_that_hide_results_are_taken_back(project: Path, verifier_of) -> None:
    write(
        project,
        {"pytest.ini": "[pytest]\naddopts = -x --maxfail=1 --lf --tb=no -n 2 -k 'over or edge or double'\n"},
    )
    found = outcomes(verifier_of(project, pytest_command("--ff", "-p", "xdist")).baseline())
    assert found == {
        "test_shop.py::test_over": "failed",
        "test_shop.py::test_edge": "failed",
        "test_shop.py::test_double": "passed",
    }


def test_tests_below_another_folder_with_a_root_of_their_own(project: Path, verifier_of) -> None:
    (project / "test_shop.py").unlink()
    write(project, {
        "sub/pytest.ini": "[pytest]\npythonpath = ..\n",
        "sub/tests/test_shop.py": TESTS,
        "sub/tests/conftest.py": "import pytest\n\n@pytest.fixture(autouse=True)\ndef deep():\n    yield\n",
    })  # fmt: skip
    command = pytest_command("sub/tests")
    verifier = verifier_of(project, command)
    assert outcomes(verifier.baseline())["tests/test_shop.py::test_over"] == "failed"
    assert verifier.submit({"shop.py": FIXED.encode()}).result(240).status is Status.GREEN


def test_skips_and_expected_failures_neither_fail_nor_pass(project: Path, verifier_of) -> None:
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


def test_a_candidate_that_makes_a_test_skip_or_vanish_is_not_green(project: Path, verifier_of) -> None:
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
        text = FIXED.replace("LIMIT = 10", f"LIMIT = {limit}")
        assert verifier.submit({"shop.py": text.encode()}).result(240).status is Status.RED
    assert verifier.submit({"shop.py": FIXED.encode()}).result(240).status is Status.GREEN


def test_threads_and_foreign_modules_of_a_conftest(project: Path, verifier_of) -> None:
    write(project, {
        "conftest.py": """\
import threading, time
threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
""",
        "test_shop.py": TESTS + "\n\ndef test_decimal():\n    import decimal\n    assert decimal.Decimal(1) == 1\n",
    })  # fmt: skip
    verifier = verifier_of(project)
    assert outcomes(verifier.baseline())["test_shop.py::test_decimal"] == "passed"
    assert verifier.submit({"shop.py": FIXED.encode()}).result(240).status is Status.GREEN


def test_a_candidate_that_damages_the_copy_does_not_spoil_the_next(project: Path, verifier_of) -> None:
    write(project, {"data.txt": "10"})
    reading = SOURCE.replace(
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


def test_flaky_tests_are_not_counted(project: Path, verifier_of, tmp_path: Path) -> None:
    flaky = f"""

def test_flaky():
    path = {str(tmp_path / "count")!r}
    with open(path, "a") as file:
        file.write("x")
    assert len(open(path).read()) < 3
"""
    write(project, {"test_shop.py": TESTS + flaky})
    verifier = verifier_of(project)
    verifier.baseline()
    assert verifier.flaky == {"test_shop.py::test_flaky"}
    assert verifier.submit({"shop.py": FIXED.encode()}).result(240).status is Status.GREEN


def test_a_module_with_a_name_of_the_standard_library_is_the_project_s(project: Path, verifier_of) -> None:
    write(project, {"resource.py": SOURCE, "test_shop.py": TESTS.replace("from shop", "from resource")})
    verifier = verifier_of(project)
    assert outcomes(verifier.baseline())["test_shop.py::test_over"] == "failed"
    assert verifier.submit({"resource.py": FIXED.encode()}).result(240).status is Status.GREEN


def test_a_test_that_ends_the_run_does_not_hide_the_others(project: Path, verifier_of) -> None:
    write(project, {"test_early.py": "def test_ends():\n    raise KeyboardInterrupt\n"})
    found = outcomes(verifier_of(project).baseline())
    assert found["test_early.py::test_ends"] == "error"
    assert found["test_shop.py::test_double"] == "passed"


def test_what_fails_in_the_worker_alone_is_set_aside(project: Path, verifier_of) -> None:
    write(project, {
        "test_shop.py": TESTS + """

def test_runner():
    import sys
    assert "deskagent_worker" not in sys.modules
""",
    })  # fmt: skip
    command = pytest_command("-q")
    cold = run_cold(project, command, sandbox=Unconfined())
    verifier = verifier_of(project, command)
    verifier.baseline(cold=cold)
    assert verifier.flaky == {"test_shop.py::test_runner"}
    assert verifier.submit({"shop.py": FIXED.encode()}).result(240).status is Status.GREEN


def test_closing_during_the_first_look(project: Path, verifier_of) -> None:
    write(project, {"test_slow.py": "import time\n\ndef test_slow():\n    time.sleep(600)\n"})
    verifier = verifier_of(project, slots=2)
    threading.Timer(0.3, verifier.close).start()
    begun = time.monotonic()
    with pytest.raises(Closed):
        verifier.baseline(test_seconds=300)
    assert time.monotonic() - begun < 120


def test_closing_ends_everything_at_once(project: Path, verifier_of) -> None:
    slow = SOURCE.replace("    if value", "    import time; time.sleep(600)\n    if value")
    verifier = verifier_of(project, slots=2)
    verifier.baseline()
    futures = [verifier.submit({"shop.py": f"{slow}# {n}".encode()}) for n in range(4)]
    time.sleep(0.3)
    begun = time.monotonic()
    verifier.close()
    assert time.monotonic() - begun < 120
    for future in futures:
        with pytest.raises(Closed):
            future.result(60)
    assert not [t for t in threading.enumerate() if t.name.startswith("test slot")]


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (TestCommand("make test", ("sh", "-c", f"{sys.executable} -m pytest -q"), "command", env=BARE), "known Python"),
        (TestCommand("x", (sys.executable, "-m", "pytest"), "pytest", Path("/usr/bin/false"), env=BARE), "ended"),
        (
            TestCommand(
                "y", ("sh", "-c", f"{sys.executable} -m pytest -q test_shop.py && false"),
                "pytest", Path(sys.executable), ("-q", "test_shop.py", "-k", "double"), BARE,
            ),
            "exact command fails",
        ),
    ],
    ids=["no runner", "no worker", "passes warm"],
)  # fmt: skip
def test_where_no_worker_can_run_the_exact_command_decides(
    project: Path, verifier_of, command: TestCommand, reason: str
) -> None:
    verifier = verifier_of(project, command)
    baseline = verifier.baseline()
    assert not verifier.warm and reason in verifier.reason
    assert {r.id for r in baseline.failing} == {"test_shop.py::test_over", "test_shop.py::test_edge"}
    wanted = Status.RED if "false" in command.line + command.argv[-1] else Status.GREEN
    assert verifier.submit({"shop.py": FIXED.encode()}).result(240).status is wanted
    assert verifier.submit({"shop.py": SOURCE.encode() + b"#"}).result(240).status is Status.RED


def test_green_from_the_start(project: Path, verifier_of) -> None:
    write(project, {"shop.py": FIXED})
    verifier = verifier_of(project)
    baseline = verifier.baseline()
    assert verifier.warm and not baseline.failing and len(baseline.passing) == 6


def test_a_cold_run_tells_what_the_exact_command_does(project: Path) -> None:
    command = pytest_command("-q", module=False)
    write(project, {"pytest.ini": "[pytest]\npythonpath = .\n"})
    red = run_cold(project, command, sandbox=Unconfined())
    assert not red.green and red.result.code == 1
    assert {r.id for r in red.printed.failing} == {"test_shop.py::test_over", "test_shop.py::test_edge"}
    assert (red.printed.passed, red.printed.failed) == (4, 2)
    pieces: list[bytes] = []
    green = run_cold(
        project, command, sandbox=Unconfined(), files={"shop.py": FIXED.encode()}, on_output=pieces.append
    )
    assert green.green and b"6 passed" in b"".join(pieces)
    assert (project / "shop.py").read_text() == SOURCE


def test_a_cold_run_can_be_cancelled(project: Path) -> None:
    write(project, {"test_shop.py": "import time\n\ndef test_slow():\n    time.sleep(600)\n"})
    cancel = threading.Event()
    threading.Timer(0.5, cancel.set).start()
    begun = time.monotonic()
    run = run_cold(project, pytest_command(), sandbox=Unconfined(), cancel=cancel)
    assert not run.green and time.monotonic() - begun < 120
