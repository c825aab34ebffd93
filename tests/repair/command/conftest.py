"""A project, environments whose programs would be noticed if they ran, and a PATH."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"


Environment = Callable[..., Path]


def _script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def script() -> Callable[..., Any]:
    return _script


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


@pytest.fixture
def bin_of() -> Callable[..., Any]:
    return _bin
