"""Scripts, environment runners, tox and make: what is behind them."""

from __future__ import annotations

import hashlib
import os
import sys
from base64 import urlsafe_b64encode
from collections.abc import Callable
from pathlib import Path

import pytest

from deskagent.errors import UsageError
from deskagent.repair.command import TestCommand, resolve

VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"


Environment = Callable[..., Path]


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
    project: Path, path: dict[str, str], tmp_path: Path, first: str, bin_of, script
) -> None:
    python = bin_of(path) / "python3"
    text = f"{first.replace('PY', str(python))}import sys\nfrom pytest import console_main\n"
    script(tmp_path / "own" / "pytest", text)
    command = resolve("pytest", project, {"PATH": f"{tmp_path}/own:{path['PATH']}"})
    assert command.interpreter == python


def test_a_script_that_is_no_pytest_or_has_lost_its_python(
    project: Path, path: dict[str, str], tmp_path: Path, script
) -> None:
    env = {"PATH": f"{tmp_path}/own:{path['PATH']}"}
    script(tmp_path / "own" / "pytest", "#!/bin/bash\nrun-my-tests\n")
    assert resolve("pytest", project, env).runner == "command"
    script(tmp_path / "own" / "pytest", "\x7fELF pytest")
    assert resolve("pytest", project, env).runner == "command"
    script(tmp_path / "own" / "pytest", "#!/gone/bin/python\nfrom pytest import main\n")
    with pytest.raises(UsageError, match="/gone/bin/python, which doesn't exist"):
        resolve("pytest", project, env)


def test_pyenv_shims(project: Path, tmp_path: Path, environment: Environment, script) -> None:
    root = tmp_path / "pyenv"
    shim = '#!/usr/bin/env bash\nexec "/opt/pyenv/bin/pyenv" exec "${0##*/}" "$@"\n'
    for name in ("pytest", "python"):
        script(root / "shims" / name, shim)
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


def test_runners_of_environments(
    project: Path, path: dict[str, str], environment: Environment, bin_of, script
) -> None:
    for name in ("uv", "poetry", "pdm", "rye", "pipenv"):
        script(bin_of(path) / name, "")
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
    project: Path, path: dict[str, str], environment: Environment, tmp_path: Path, bin_of, script
) -> None:
    (project / "pyproject.toml").write_text('[tool.poetry]\nname = "my proj"\n')
    script(bin_of(path) / "poetry", "")
    digest = urlsafe_b64encode(hashlib.sha256(os.fsencode(project)).digest()).decode()[:8]
    home = environment(tmp_path / "cache" / "pypoetry" / "virtualenvs" / f"my_proj-{digest}-py3.11", "pytest")
    command = resolve("poetry run pytest", project, {**path, "XDG_CACHE_HOME": str(tmp_path / "cache")})
    assert command.interpreter == home / "bin" / "python"


@pytest.fixture
def tox(script, bin_of) -> Callable[..., TestCommand]:
    def run(project: Path, path: dict[str, str], environment: Environment, text: str) -> TestCommand:
        script(bin_of(path) / "tox", "")
        if not (project / ".tox").exists():
            environment(project / ".tox" / "py", "pytest")
        (project / "tox.ini").write_text(text)
        return resolve("tox", project, path)

    return run


def test_tox_with_one_plain_line(project: Path, path: dict[str, str], environment: Environment, tox) -> None:
    plain = "[tox]\nskipsdist = true\n[testenv]\ncommands = pytest {posargs:tests -q}\n"
    command = tox(project, path, environment, plain)
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
    project: Path, path: dict[str, str], environment: Environment, text: str, tox
) -> None:
    assert tox(project, path, environment, text).runner == "command"


@pytest.fixture
def make(script, bin_of) -> Callable[..., TestCommand]:
    def run(project: Path, path: dict[str, str], text: str) -> TestCommand:
        script(bin_of(path) / "make", "")
        (project / "Makefile").write_text(text)
        return resolve("make test", project, path)

    return run


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
    project: Path, path: dict[str, str], text: str, args: tuple[str, ...], make
) -> None:
    command = make(project, path, text)
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
def test_make_that_is_more_than_a_line(project: Path, path: dict[str, str], text: str, make) -> None:
    assert make(project, path, text).runner == "command"
