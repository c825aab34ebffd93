"""Without a test line: what a project is tested with."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from deskagent.errors import UsageError
from deskagent.repair.command import detect

VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"


Environment = Callable[..., Path]


# --- detection ------------------------------------------------------------------------------------------------


def _detected(project: Path, env: Mapping[str, str]) -> tuple[str, str]:
    command = detect(project, env)
    assert command is not None
    assert command.detected
    return command.line, command.how


@pytest.mark.parametrize(
    ("name", "text", "how"),
    [
        ("pytest.ini", "[pytest]\n", "pytest.ini"),
        ("pyproject.toml", "[tool.pytest.ini_options]\n", "pyproject.toml [tool.pytest]"),
        ("setup.cfg", "[tool:pytest]\n", "setup.cfg [tool:pytest]"),
        ("tox.ini", "[pytest]\n", "tox.ini [pytest]"),
        ("conftest.py", "", "conftest.py"),
        ("tests/test_x.py", "import pytest\n", "tests/test_x.py"),
        ("x_test.py", "def test_x():\n    assert f() == 1\n", "x_test.py"),
        ("tests/test_x.py", "from unittest import TestCase\n", "tests/test_x.py"),
    ],
)
def test_pytest_is_detected(
    project: Path, path: dict[str, str], name: str, text: str, how: str, bin_of
) -> None:
    (project / name).write_text(text)
    line, told = _detected(project, path)
    assert line == "python -m pytest -q"
    assert told == f"pytest, from {how} and pytest in {bin_of(path)}/python"


def test_the_project_s_own_environment_is_what_detection_takes(
    project: Path, path: dict[str, str], environment: Environment
) -> None:
    (project / "pytest.ini").touch()
    environment(project / "venv")
    assert _detected(project, path)[0] == "python -m pytest -q"
    environment(project / ".venv", "pytest")
    line, how = _detected(project, path)
    assert line == ".venv/bin/python -m pytest -q"
    assert how.endswith("pytest in .venv")


def test_unittest_is_detected_where_pytest_is_missing(
    project: Path, tmp_path: Path, environment: Environment
) -> None:
    env = {"PATH": str(environment(tmp_path / "bare") / "bin")}
    (project / "tests" / "test_x.py").write_text("import unittest\n")
    assert _detected(project, env)[0] == "python -m unittest discover -s tests"
    (project / "tests" / "__init__.py").touch()
    command = detect(project, env)
    assert command is not None
    assert (command.runner, command.line) == ("unittest", "python -m unittest discover -s tests -t .")
    (project / "tests" / "test_x.py").rename(project / "x_test.py")
    assert _detected(project, env)[0] == "python -m unittest discover -p '*_test.py'"


def test_tests_without_what_runs_them_are_a_usage_error(
    project: Path, tmp_path: Path, environment: Environment
) -> None:
    env = {"PATH": str(environment(tmp_path / "bare") / "bin")}
    (project / "pytest.ini").touch()
    with pytest.raises(UsageError, match=r"pytest\.ini speaks for pytest"):
        detect(project, env)


@pytest.mark.parametrize(
    ("name", "text", "program", "line"),
    [
        ("tox.ini", "[testenv]\n", "tox", "tox"),
        ("noxfile.py", "import nox\n", "nox", "nox"),
        ("Makefile", "check: all\n\t./run\n", "make", "make check"),
        ("Makefile", "test::\n\t./run\n", "make", "make test"),
        ("package.json", '{"scripts": {"test": "jest"}}', "npm", "npm test"),
        ("go.mod", "module x\n", "go", "go test ./..."),
        ("Cargo.toml", "[package]\n", "cargo", "cargo test"),
    ],
)
def test_other_tools_are_detected_where_they_are_installed(
    project: Path, path: dict[str, str], name: str, text: str, program: str, line: str, bin_of, script
) -> None:
    (project / name).write_text(text)
    assert detect(project, path) is None
    script(bin_of(path) / program, "")
    found, how = _detected(project, path)
    assert found == line
    assert name in how


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("package.json", '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'),
        ("package.json", "[]"),
        ("package.json", "{" * 100_000),
        ("pyproject.toml", "[tool\n"),
        ("pyproject.toml", "tool = 3\n"),
        ("setup.cfg", "\0\0[[["),
        ("Makefile", "test := 1\ntests = x\n"),
        ("tests/test_x.py", "def helper(:\n"),
    ],
)
def test_files_that_say_nothing(
    project: Path, path: dict[str, str], name: str, text: str, bin_of, script
) -> None:
    for program in ("npm", "make"):
        script(bin_of(path) / program, "")
    (project / name).write_text(text)
    assert detect(project, path) is None


def test_special_files_don_t_hold_detection_up(project: Path, path: dict[str, str]) -> None:
    for name in ("pyproject.toml", "setup.cfg", "Makefile", "tests/test_fifo.py"):
        os.mkfifo(project / name)
    assert detect(project, path) is None


@pytest.mark.parametrize(
    ("start", "cwd"),
    [
        (".", "."),
        ("sub", "sub"),
        ("sub/src/deep", "sub"),
        ("plain", "."),
        ("tests", "."),
        ("said-nothing", "."),
    ],
)
def test_a_subfolder_that_is_a_project_of_its_own_is_tested_there(
    project: Path, path: dict[str, str], start: str, cwd: str
) -> None:
    (project / "pytest.ini").touch()
    for name in ("sub/tests", "sub/src/deep", "plain", "said-nothing"):
        (project / name).mkdir(parents=True)
    (project / "tests" / "conftest.py").touch()
    (project / "sub" / "tests" / "test_x.py").write_text("def test_x():\n    assert f() == 1\n")
    (project / "said-nothing" / "pyproject.toml").write_text("[project]\n")
    command = detect(project, path, start=project / start)
    assert command is not None
    assert (command.line, command.cwd) == ("python -m pytest -q", Path(cwd))
    assert ("pytest.ini" in command.how) == (cwd == ".")


def test_a_subfolder_is_tested_by_the_environment_of_the_whole(
    project: Path, path: dict[str, str], environment: Environment
) -> None:
    (project / "sub").mkdir()
    (project / "sub" / "pytest.ini").touch()
    environment(project / ".venv", "pytest")
    command = detect(project, path, start=project / "sub")
    assert command is not None
    assert (command.line, command.cwd) == ("../.venv/bin/python -m pytest -q", Path("sub"))
    assert command.interpreter == project / ".venv" / "bin" / "python"
