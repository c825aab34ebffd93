"""What a test line really runs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from deskagent.errors import UsageError
from deskagent.repair.command import resolve

VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"


Environment = Callable[..., Path]


@pytest.mark.parametrize(
    ("line", "runner", "args", "as_module"),
    [
        ("pytest", "pytest", (), False),
        (
            "pytest -q -k 'a and b' tests/x.py::t[1-2]",
            "pytest",
            ("-q", "-k", "a and b", "tests/x.py::t[1-2]"),
            False,
        ),
        ("python -m pytest -x", "pytest", ("-x",), True),
        ("python3 -W error -X dev -u -m pytest", "pytest", (), True),
        ("python -m unittest", "unittest", (), True),
        ("python -m unittest discover -s tests", "unittest", ("discover", "-s", "tests"), True),
        ("coverage run --source pkg --branch -m pytest -q", "pytest", ("-q",), True),
        ("python -m coverage run -m unittest discover", "unittest", ("discover",), True),
        ("bash -c 'pytest -q'", "pytest", ("-q",), False),
    ],
)
def test_what_the_line_runs(
    project: Path,
    path: dict[str, str],
    line: str,
    runner: str,
    args: tuple[str, ...],
    as_module: bool,
    bin_of,
    script,
) -> None:
    script(bin_of(path) / "bash", "")
    command = resolve(line, project, path)
    assert (command.runner, command.args, command.as_module) == (runner, args, as_module)
    python = "python3" if line.startswith("python3") else "python"
    assert command.interpreter == bin_of(path) / python
    assert command.cwd == Path()
    assert not command.detected


@pytest.mark.parametrize(
    ("line", "argv"),
    [
        ("pytest | tail -3", ("sh", "-c", "pytest | tail -3")),
        ("pytest; echo done", ("sh", "-c", "pytest; echo done")),
        ("pytest && python -m unittest", ("sh", "-c", "pytest && python -m unittest")),
        ("python -c 'print(1)'", ("python", "-c", "print(1)")),
        ("python tests/run.py -v", ("python", "tests/run.py", "-v")),
        ("coverage report", ("coverage", "report")),
        ("coverage run tests/run.py", ("coverage", "run", "tests/run.py")),
    ],
)
def test_of_the_rest_only_the_exit_code_speaks(
    project: Path, path: dict[str, str], line: str, argv: tuple[str, ...]
) -> None:
    command = resolve(line, project, path)
    assert (command.runner, command.argv, command.interpreter) == ("command", argv, None)


def test_variables_and_folders_of_the_line(project: Path, path: dict[str, str], bin_of, script) -> None:
    command = resolve("A=1 B='x y' pytest", project, path)
    assert (command.env, command.argv) == ({"A": "1", "B": "x y"}, ("pytest",))
    command = resolve("cd tests && export C=3 && pytest -q", project, path)
    assert (command.cwd, command.env, command.argv) == (Path("tests"), {"C": "3"}, ("pytest", "-q"))
    command = resolve("pytest", project, path, start=project / "tests")
    assert command.cwd == Path("tests")
    script(bin_of(path) / "env", "")
    command = resolve("env A=1 pytest -q", project, path)
    assert (command.runner, command.args, command.env) == ("pytest", ("-q",), {"A": "1"})


def test_globs_are_the_shell_s(project: Path, path: dict[str, str]) -> None:
    for name in ("test_b.py", "test_a.py"):
        (project / "tests" / name).touch()
    command = resolve("pytest tests/test_*.py 'tests/test_*.py' none*", project, path)
    assert command.args == ("tests/test_a.py", "tests/test_b.py", "tests/test_*.py", "none*")


def test_a_program_by_its_path(project: Path, path: dict[str, str], environment: Environment) -> None:
    environment(project / ".venv", "pytest")
    command = resolve("../.venv/bin/pytest", project, path, start=project / "tests")
    assert (command.argv, command.interpreter) == (("../.venv/bin/pytest",), project / ".venv/bin/python")
    command = resolve("source .venv/bin/activate && pytest", project, path)
    assert command.interpreter == project / ".venv/bin/python"
    assert command.env["VIRTUAL_ENV"] == str(project / ".venv")
    assert command.env["PATH"].startswith(f"{project}/.venv/bin:")


def test_path_wins_and_the_project_s_environment_helps_out(
    project: Path, path: dict[str, str], environment: Environment, bin_of
) -> None:
    environment(project / ".venv", "pytest")
    command = resolve("pytest", project, path)
    assert command.interpreter == bin_of(path) / "python"
    assert "exists too" in command.how
    (bin_of(path) / "pytest").unlink()
    command = resolve("pytest -q", project, path)
    assert command.interpreter == project / ".venv/bin/python"
    assert command.argv == (str(project / ".venv/bin/pytest"), "-q")
    assert ".venv/bin/pytest is used" in command.how


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nosuch -q", "`nosuch` was not found on PATH"),
        ("./nosuch", "There is no ./nosuch in"),
        ("tests", "`tests` was not found"),
        ("./tests", "can't be executed"),
        ("python3.99 -m pytest", "`python3.99` was not found"),
        ("", "empty"),
        ("A=1", "runs nothing"),
        ("pytest 'x", "not closed"),
        ("pytest \x1b[31m", "control characters"),
        ("pytest \0", "control characters"),
        ("cd nowhere && pytest", "no such folder"),
        ("cd .. && pytest", "outside of the project"),
        ("cd / && pytest", "outside of the project"),
    ],
)
def test_what_can_t_run_is_a_usage_error(
    project: Path, path: dict[str, str], line: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        resolve(line, project, path)
    assert caught.value.exit_code == 2
    assert caught.value.hint


def test_what_the_repository_puts_on_a_relative_path_is_not_taken(
    project: Path, path: dict[str, str], bin_of, script
) -> None:
    script(project / "pytest", "#!/bin/sh\n")
    (bin_of(path) / "pytest").unlink()
    with pytest.raises(UsageError):
        resolve("pytest", project, {"PATH": f".::{path['PATH']}"})
