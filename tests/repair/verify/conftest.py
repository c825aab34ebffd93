"""A small project with a bug, and verifiers of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from deskagent.repair.command import TestCommand
from deskagent.repair.verify import Verifier
from deskagent.terminal.sandbox import Sandbox, Unconfined

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


@pytest.fixture
def source() -> str:
    return SOURCE


FIXED = SOURCE.replace("LIMIT - 1", "LIMIT")


@pytest.fixture
def fixed() -> str:
    return FIXED


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


@pytest.fixture
def tests() -> str:
    return TESTS


# Plugins of the environment that runs these tests would only cost time.
BARE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def _with_pytest(*args: str, module: bool = True) -> TestCommand:
    python = sys.executable
    argv = (python, "-m", "pytest", *args) if module else (str(Path(python).with_name("pytest")), *args)
    return TestCommand(" ".join(argv), argv, "pytest", Path(python), args, BARE, as_module=module)


@pytest.fixture
def with_pytest() -> Callable[..., Any]:
    return _with_pytest


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    _write(folder, {"shop.py": SOURCE, "test_shop.py": TESTS})
    return folder


def _write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


@pytest.fixture
def write() -> Callable[..., Any]:
    return _write


@pytest.fixture
def verifier_of() -> Iterator:
    with ExitStack() as stack:

        def make(
            project: Path, command: TestCommand | None = None, sandbox: Sandbox | None = None, slots: int = 1
        ):
            command = command or _with_pytest("-q")
            return stack.enter_context(
                Verifier(project, command, sandbox=sandbox or Unconfined(), slots=slots)
            )

        yield make


def _outcomes(baseline) -> dict[str, str]:
    return {r.id: r.outcome.value for r in baseline.results}


@pytest.fixture
def outcomes() -> Callable[..., Any]:
    return _outcomes


def _tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.fixture
def tree() -> Callable[..., Any]:
    return _tree
