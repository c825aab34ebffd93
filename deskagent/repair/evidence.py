"""What a project's files say about how it is tested, and the command line that follows from it."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from deskagent.errors import UsageError
from deskagent.repair.interpreter import (
    Surroundings,
    has_module,
    interpreter_of,
    is_script_of,
    project_environment,
)
from deskagent.repair.recipes import read_ini, read_text, read_toml
from deskagent.repo.walk import walk

_TEST_FILE = re.compile(r"(?:^|/)(?:test[^/]*|[^/]*_tests?)\.py$")
_PYTEST_WORDS = re.compile(r"^\s*(?:import pytest\b|from pytest\b)", re.MULTILINE)
_UNITTEST_WORDS = re.compile(r"^\s*(?:import unittest\b|from unittest\b)", re.MULTILINE)
_LOOKED_AT = 200  # test files
_OF_A_PROJECT = (
    *(
        "pyproject.toml",
        "setup.py",
        "setup.cfg",
        "pytest.ini",
        ".pytest.ini",
        "tox.ini",
        "tox.toml",
        "noxfile.py",
    ),
    *("package.json", "go.mod", "Cargo.toml"),
)


@dataclass(frozen=True)
class Evidence:
    """A test command line and in words what speaks for it."""

    line: str
    how: str


def is_project(folder: Path) -> bool:
    """Whether a folder inside a project is set up as one of its own: settings of a test runner or a package, or a
    folder of tests."""
    return any((folder / name).is_file() for name in _OF_A_PROJECT) or any(
        (folder / name).is_dir() for name in ("tests", "test")
    )


def find(at: Surroundings) -> Evidence | None:
    """What speaks for tests in the folder `at.cwd`, the first that applies: pytest, unittest, tox, nox, a Makefile's
    target, npm, Go, Cargo.

    UsageError where tests were found and what runs them isn't installed.
    """
    for look in (_python_tests, _tox, _nox, _make, _npm, _go, _cargo):
        found = look(at)
        if found:
            return found
    return None


def _python_tests(at: Surroundings) -> Evidence | None:
    configured = next(_pytest_configured(at.cwd), None)
    files = [name for name in walk(at.cwd).files if _TEST_FILE.search(name)][:_LOOKED_AT]
    texts = {name: read_text(at.cwd / name) for name in files}
    pytest_file = next((name for name, text in texts.items() if _PYTEST_WORDS.search(text)), None)
    unittest_file = next((name for name, text in texts.items() if _UNITTEST_WORDS.search(text)), None)
    plain_file = next((name for name, text in texts.items() if _has_test_function(text)), None)
    why = configured or pytest_file or (None if unittest_file else plain_file)
    python, where = _python_with(at, "pytest")
    if python and (why or unittest_file):
        reason = f"{why or unittest_file} and pytest in {where}"
        return Evidence(shlex.join([python, "-m", "pytest", "-q"]), f"pytest, from {reason}")
    if unittest_file and not why:
        python, where = _python_with(at, None)
        if python:
            return Evidence(
                _unittest_line(python, unittest_file, at.cwd),
                f"unittest, from {unittest_file}, by {where}",
            )
    if why or unittest_file:
        missing = "pytest" if why else "Python"
        raise UsageError(
            f"{why or unittest_file} speaks for {missing}, which was found neither on PATH nor in the project's "
            "virtual environment.",
            hint='Install it there, or name the test command: --test "…".',
        )
    return None


def _pytest_configured(project: Path) -> Iterator[str]:
    """Files that configure pytest, with the section."""
    for name in ("pytest.ini", ".pytest.ini"):
        if (project / name).is_file():
            yield name
    tool = read_toml(project / "pyproject.toml").get("tool", {})
    if isinstance(tool, dict) and "pytest" in tool:
        yield "pyproject.toml [tool.pytest]"
    for name, section in (("setup.cfg", "tool:pytest"), ("tox.ini", "pytest")):
        if read_ini(project / name).has_section(section):
            yield f"{name} [{section}]"
    for name in ("conftest.py", "tests/conftest.py", "test/conftest.py"):
        if (project / name).is_file():
            yield name


def _has_test_function(text: str) -> bool:
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError):
        return re.search(r"^(?:async )?def test", text, re.MULTILINE) is not None
    return any(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test")
        for node in body
    )


def _python_with(at: Surroundings, module: str | None) -> tuple[str | None, str]:
    """How to call a Python that has `module`, and where it is in words. The project's own environment first,
    since it is what its tests were made for; then PATH."""
    for folder in dict.fromkeys((at.cwd, at.project)):
        own = project_environment(folder)
        if own and (module is None or has_module(own / "bin/python", module)):
            return os.path.relpath(own / "bin/python", at.cwd), os.path.relpath(own, at.cwd)
    for name in ("python", "python3"):
        program = at.which(name)
        python = _interpreter(program, at) if program else None
        if python and (module is None or has_module(python, module)):
            return name, str(python)
    script = at.which(module) if module else None
    python = _interpreter(script, at) if script and module and is_script_of(script, module) else None
    return (str(python), str(python)) if python else (None, "")


def _interpreter(program: Path, at: Surroundings) -> Path | None:
    try:
        return interpreter_of(program, at)
    except UsageError:
        return None  # a broken script is no way to run anything; the next place may have one


def _unittest_line(python: str, file: str, project: Path) -> str:
    """Discovery starts in the test file's top folder; where that is a package, from the project on."""
    top = file.split("/")[0] if "/" in file else ""
    words = [python, "-m", "unittest", "discover"]
    if top:
        words += ["-s", top]
        if (project / top / "__init__.py").is_file():
            words += ["-t", "."]
    if not Path(file).name.startswith("test"):
        words += ["-p", "*_test.py" if file.endswith("_test.py") else "*_tests.py"]
    return shlex.join(words)


def _tox(at: Surroundings) -> Evidence | None:
    name = next((n for n in ("tox.ini", "tox.toml") if (at.cwd / n).is_file()), None)
    return Evidence("tox", f"tox, from {name}") if name and at.which("tox") else None


def _nox(at: Surroundings) -> Evidence | None:
    found = (at.cwd / "noxfile.py").is_file() and at.which("nox")
    return Evidence("nox", "nox, from noxfile.py") if found else None


def _make(at: Surroundings) -> Evidence | None:
    for name in ("GNUmakefile", "makefile", "Makefile"):
        text = read_text(at.cwd / name)
        for target in ("test", "tests", "check"):
            if re.search(rf"^{target}[ \t]*::?(?!=)", text, re.MULTILINE) and at.which("make"):
                return Evidence(f"make {target}", f"the target {target} in {name}")
    return None


def _npm(at: Surroundings) -> Evidence | None:
    try:
        test = json.loads(read_text(at.cwd / "package.json") or "{}").get("scripts", {}).get("test", "")
    except (ValueError, AttributeError, RecursionError):
        return None
    locks = (("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("", "npm"))
    program = next(program for lock, program in locks if not lock or (at.cwd / lock).is_file())
    if not test or "no test specified" in str(test) or not at.which(program):
        return None
    return Evidence(f"{program} test", "the script test in package.json")


def _go(at: Surroundings) -> Evidence | None:
    found = (at.cwd / "go.mod").is_file() and at.which("go")
    return Evidence("go test ./...", "Go, from go.mod") if found else None


def _cargo(at: Surroundings) -> Evidence | None:
    found = (at.cwd / "Cargo.toml").is_file() and at.which("cargo")
    return Evidence("cargo test", "Rust, from Cargo.toml") if found else None
