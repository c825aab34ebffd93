from pathlib import Path

import pytest

from deskagent.repair.command import TestCommand
from deskagent.repair.toolchains import golang, known
from deskagent.repair.types import Outcome, TestResult


def command(*words):
    return TestCommand(" ".join(words), words, "command")


@pytest.fixture
def project(tmp_path):
    (tmp_path / "go.mod").write_text("module example.com/m\n\ngo 1.19\n")
    return tmp_path


def test_every_test_is_named(project):
    found = golang.understand(command("go", "test", "-v", "-race", "./..."), project)
    assert found.named.argv == ("go", "test", "-json", "-race", "./...")


def test_failing_tests_alone(project):
    found = golang.understand(command("go", "test", "./..."), project)
    tests = [
        TestResult("example.com/m/a.TestX/low", Outcome.FAILED),
        TestResult("example.com/m/a.TestY", Outcome.FAILED),
    ]
    assert found.only(tests).argv == (
        "go",
        "test",
        "-json",
        "-vet=off",
        "-run",
        "^(TestX|TestY)$",
        "example.com/m/a",
    )
    assert found.only([TestResult("example.com/m/a", Outcome.ERROR)]).argv[-1] == "example.com/m/a"


def test_a_run_of_some_is_left_as_it_is(project):
    assert (
        golang.understand(command("go", "test", "-run", "TestX", "./..."), project).only(
            [TestResult("example.com/m.TestX", Outcome.FAILED)]
        )
        is None
    )


@pytest.mark.parametrize("words", [("go", "vet"), ("go", "test", "./...", "-args", "x"), ("gotest",)])
def test_other_commands(project, words):
    assert golang.understand(command(*words), project) is None


def test_lines_of_a_profile(project):
    found = golang.understand(command("go", "test", "./..."), project)
    (project / "cover.out").write_text(
        "mode: set\nexample.com/m/a/a.go:3.14,5.2 1 1\nexample.com/m/a/a.go:7.2,7.9 1 0\n"
        "other/x.go:1.1,2.2 1 1\nrubbish\n"
    )
    assert found.lines(project, Path("/p"), project) == {"a/a.go": frozenset({3, 4, 5})}


def test_results_found_on_the_way_are_no_proof(project, monkeypatch):
    monkeypatch.setenv("DESKAGENT_HOME", str(project / "home"))
    tried = known.needs(command("go", "test"), project, proof=False)
    proof = known.needs(command("go", "test"), project, proof=True)
    assert tried.env["GOCACHE"] != proof.env["GOCACHE"]
    assert proof.writable == (Path(proof.env["GOCACHE"]),) and proof.writable[0].is_dir()
    assert "-count=1" in proof.env["GOFLAGS"]


def test_other_programs_need_nothing(project):
    assert known.needs(command("cargo", "test"), project, proof=True) == known.Needs({})


def test_a_suite_that_hangs_gets_so_much_time(project):
    found = golang.understand(command("go", "test", "./..."), project).within(5.0)
    assert found.named.argv == ("go", "test", "-json", "-timeout=5s", "./...")
