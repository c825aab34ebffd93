from __future__ import annotations

import hashlib
import os
import sys
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from deskagent.errors import UsageError
from deskagent.repair.command import TestCommand, detect, resolve

VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"
Environment = Callable[..., Path]


def _script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """Exists as soon as anything of the project or of its environments was run."""
    return tmp_path / "canary"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "proj"
    (folder / "tests").mkdir(parents=True)
    return folder


@pytest.fixture
def environment(canary: Path) -> Environment:
    """Makes a virtual environment whose every program leaves a canary when it runs."""

    def make(folder: Path, *modules: str) -> Path:
        evil = f"#!/bin/sh\ntouch {canary}\n"
        (folder / "lib" / VERSION / "site-packages").mkdir(parents=True)
        (folder / "pyvenv.cfg").write_text("home = /usr/bin\n")
        for name in ("python", "python3"):
            # No #! line: to a reader it is a binary, and the shell of a run would still run it.
            _script(folder / "bin" / name, evil.removeprefix("#!/bin/sh\n"))
        for module in modules:
            (folder / "lib" / VERSION / "site-packages" / module).mkdir()
            (folder / "lib" / VERSION / "site-packages" / module / "__init__.py").touch()
            text = f"#!{folder}/bin/python\nimport sys\nfrom {module} import main\nsys.exit(main())\n"
            _script(folder / "bin" / module, text)
        return folder

    return make


@pytest.fixture
def path(tmp_path: Path, environment: Environment) -> dict[str, str]:
    """An environment whose PATH has one Python with pytest and coverage, and nothing else."""
    return {"PATH": str(environment(tmp_path.resolve() / "usr", "pytest", "coverage") / "bin")}


@pytest.fixture(autouse=True)
def nothing_ran(canary: Path):
    yield
    assert not canary.exists(), "a program was started to find out what it is"


def _bin(env: Mapping[str, str]) -> Path:
    return Path(env["PATH"].split(":")[0])


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
    project: Path, path: dict[str, str], line: str, runner: str, args: tuple[str, ...], as_module: bool
) -> None:
    _script(_bin(path) / "bash", "")
    command = resolve(line, project, path)
    assert (command.runner, command.args, command.as_module) == (runner, args, as_module)
    python = "python3" if line.startswith("python3") else "python"
    assert command.interpreter == _bin(path) / python
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


def test_variables_and_folders_of_the_line(project: Path, path: dict[str, str]) -> None:
    command = resolve("A=1 B='x y' pytest", project, path)
    assert (command.env, command.argv) == ({"A": "1", "B": "x y"}, ("pytest",))
    command = resolve("cd tests && export C=3 && pytest -q", project, path)
    assert (command.cwd, command.env, command.argv) == (Path("tests"), {"C": "3"}, ("pytest", "-q"))
    command = resolve("pytest", project, path, start=project / "tests")
    assert command.cwd == Path("tests")
    _script(_bin(path) / "env", "")
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
    project: Path, path: dict[str, str], environment: Environment
) -> None:
    environment(project / ".venv", "pytest")
    command = resolve("pytest", project, path)
    assert command.interpreter == _bin(path) / "python"
    assert "exists too" in command.how
    (_bin(path) / "pytest").unlink()
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
    project: Path, path: dict[str, str]
) -> None:
    _script(project / "pytest", "#!/bin/sh\n")
    (_bin(path) / "pytest").unlink()
    with pytest.raises(UsageError):
        resolve("pytest", project, {"PATH": f".::{path['PATH']}"})


@pytest.mark.parametrize(
    "first",
    [
        "#!PY\n",
        "#!PY -I\n",
        "#!/usr/bin/env python3\n",
        "#!/usr/bin/env -S python3 -u\n",
        "#!/bin/sh\n'''exec' \"PY\" \"$0\" \"$@\"\n' '''\n",
        "#!/bin/sh\n'''exec' PY \"$0\" \"$@\"\n' '''\n",
    ],
)
def test_the_interpreter_behind_a_script(
    project: Path, path: dict[str, str], tmp_path: Path, first: str
) -> None:
    python = _bin(path) / "python3"
    text = f"{first.replace('PY', str(python))}import sys\nfrom pytest import console_main\n"
    _script(tmp_path / "own" / "pytest", text)
    command = resolve("pytest", project, {"PATH": f"{tmp_path}/own:{path['PATH']}"})
    assert command.interpreter == python


def test_a_script_that_is_no_pytest_or_has_lost_its_python(
    project: Path, path: dict[str, str], tmp_path: Path
) -> None:
    env = {"PATH": f"{tmp_path}/own:{path['PATH']}"}
    _script(tmp_path / "own" / "pytest", "#!/bin/bash\nrun-my-tests\n")
    assert resolve("pytest", project, env).runner == "command"
    _script(tmp_path / "own" / "pytest", "\x7fELF pytest")
    assert resolve("pytest", project, env).runner == "command"
    _script(tmp_path / "own" / "pytest", "#!/gone/bin/python\nfrom pytest import main\n")
    with pytest.raises(UsageError, match="/gone/bin/python, which doesn't exist"):
        resolve("pytest", project, env)


def test_pyenv_shims(project: Path, tmp_path: Path, environment: Environment) -> None:
    root = tmp_path / "pyenv"
    shim = '#!/usr/bin/env bash\nexec "/opt/pyenv/bin/pyenv" exec "${0##*/}" "$@"\n'
    for name in ("pytest", "python"):
        _script(root / "shims" / name, shim)
    for version in ("3.9.18", "3.11.2", "3.11.10"):
        environment(root / "versions" / version, "pytest")
    env = {"PATH": f"{root}/shims", "PYENV_ROOT": str(root)}
    (root / "version").write_text("3.9.18\n")
    assert resolve("pytest", project, env).interpreter == root / "versions/3.9.18/bin/python"
    (project / ".python-version").write_text("# ours\n3.11\n")
    assert resolve("python -m pytest", project, env).interpreter == root / "versions/3.11.10/bin/python"
    chosen = {**env, "PYENV_VERSION": "3.11.2"}
    assert resolve("pytest", project, chosen).interpreter == root / "versions/3.11.2/bin/python"
    for evil in ("../../evil", "4.0", "system"):
        (project / ".python-version").write_text(evil)
        with pytest.raises(UsageError, match="pyenv has no pytest"):
            resolve("pytest", project, env)


def test_runners_of_environments(project: Path, path: dict[str, str], environment: Environment) -> None:
    for name in ("uv", "poetry", "pdm", "rye", "pipenv"):
        _script(_bin(path) / name, "")
        assert resolve(f"{name} run pytest -q", project, path).runner == "command"
    environment(project / ".venv", "pytest")
    for name in ("uv", "poetry", "pdm", "rye", "pipenv"):
        command = resolve(f"{name} run pytest -q", project, path)
        assert (command.runner, command.args) == ("pytest", ("-q",))
        assert command.interpreter == project / ".venv/bin/python"
        assert command.argv == (name, "run", "pytest", "-q")
    assert resolve("uv run --frozen --extra test python -m pytest", project, path).as_module
    for line in ("uv run --with x pytest", "uv sync", "poetry install"):
        assert resolve(line, project, path).runner == "command"
    (project / "pyproject.toml").write_text('[tool.pdm.scripts]\npytest = "evil"\n')
    assert resolve("pdm run pytest", project, path).runner == "command"


def test_poetry_s_own_place(
    project: Path, path: dict[str, str], environment: Environment, tmp_path: Path
) -> None:
    (project / "pyproject.toml").write_text('[tool.poetry]\nname = "my proj"\n')
    _script(_bin(path) / "poetry", "")
    digest = urlsafe_b64encode(hashlib.sha256(os.fsencode(project)).digest()).decode()[:8]
    home = environment(tmp_path / "cache" / "pypoetry" / "virtualenvs" / f"my_proj-{digest}-py3.11", "pytest")
    command = resolve("poetry run pytest", project, {**path, "XDG_CACHE_HOME": str(tmp_path / "cache")})
    assert command.interpreter == home / "bin" / "python"


def _tox(project: Path, path: dict[str, str], environment: Environment, text: str) -> TestCommand:
    _script(_bin(path) / "tox", "")
    if not (project / ".tox").exists():
        environment(project / ".tox" / "py", "pytest")
    (project / "tox.ini").write_text(text)
    return resolve("tox", project, path)


def test_tox_with_one_plain_line(project: Path, path: dict[str, str], environment: Environment) -> None:
    plain = "[tox]\nskipsdist = true\n[testenv]\ncommands = pytest {posargs:tests -q}\n"
    command = _tox(project, path, environment, plain)
    assert (command.runner, command.args) == ("pytest", ("tests", "-q"))
    assert command.interpreter == project / ".tox/py/bin/python"
    assert command.argv == ("tox",)
    assert resolve("tox -e py -- -x", project, path).args == ("-x",)


@pytest.mark.parametrize(
    "text",
    [
        "[testenv]\ncommands = pytest\n",  # installs a built copy, in which no candidate would be seen
        "[testenv]\nskip_install = true\ncommands =\n    pytest\n    flake8\n",
        "[testenv]\nskip_install = true\nsetenv = A=1\ncommands = pytest\n",
        "[testenv]\nskip_install = true\ncommands = pytest {toxinidir}\n",
        "not an ini",
        "",
    ],
)
def test_tox_that_is_more_than_a_line(
    project: Path, path: dict[str, str], environment: Environment, text: str
) -> None:
    assert _tox(project, path, environment, text).runner == "command"


def _make(project: Path, path: dict[str, str], text: str) -> TestCommand:
    _script(_bin(path) / "make", "")
    (project / "Makefile").write_text(text)
    return resolve("make test", project, path)


@pytest.mark.parametrize(
    ("text", "args"),
    [
        ("test:\n\tpytest -q\n", ("-q",)),
        (
            ".PHONY: test\ntest: # all\n\t@echo tests\n\t@python -m pytest $(ARGS) # fast\nARGS = -x\nlint:\n\truff\n",
            ("-x",),
        ),
        ("PY ?= pytest\ntest:\n\tA=1 $(PY) \\\n\t  -q\n", ("-q",)),
    ],
)
def test_make_with_one_plain_line(
    project: Path, path: dict[str, str], text: str, args: tuple[str, ...]
) -> None:
    command = _make(project, path, text)
    assert (command.runner, command.args, command.argv) == ("pytest", args, ("make", "test"))


@pytest.mark.parametrize(
    "text",
    [
        "test: build\n\tpytest\n",
        "test:\n\tpytest\n\truff check\n",
        "test:\n\tpytest $(shell ls)\n",
        "test:\n\tpytest | tee log\n",
        "include more.mk\ntest:\n\tpytest\n",
        "test:\n\tpytest\ntest:\n\tpytest -x\n",
        "other:\n\tpytest\n",
        "test:\n\t$$(evil)\n",
    ],
)
def test_make_that_is_more_than_a_line(project: Path, path: dict[str, str], text: str) -> None:
    assert _make(project, path, text).runner == "command"


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
def test_pytest_is_detected(project: Path, path: dict[str, str], name: str, text: str, how: str) -> None:
    (project / name).write_text(text)
    line, told = _detected(project, path)
    assert line == "python -m pytest -q"
    assert told == f"pytest, from {how} and pytest in {_bin(path)}/python"


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
    project: Path, path: dict[str, str], name: str, text: str, program: str, line: str
) -> None:
    (project / name).write_text(text)
    assert detect(project, path) is None
    _script(_bin(path) / program, "")
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
def test_files_that_say_nothing(project: Path, path: dict[str, str], name: str, text: str) -> None:
    for program in ("npm", "make"):
        _script(_bin(path) / program, "")
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
