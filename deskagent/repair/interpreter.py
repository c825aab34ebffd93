"""Which Python a program on the command line is or would start, told from its file alone."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from deskagent.errors import UsageError
from deskagent.repo import editable

PYTHON = re.compile(r"(?:python|pypy)(?:\d(?:\.\d+)?)?t?")
_HEAD = 4096
_EXEC_TRICK = re.compile(r"""^'''exec' ["']?(?P<path>[^"'\n]+?)["']? "\$0" "\$@\"""", re.MULTILINE)
_ENVIRONMENTS = (".venv", "venv", "env", ".env")


@dataclass(frozen=True)
class Surroundings:
    """Where and with what a command line would run. `cwd` and `project` are absolute, links resolved."""

    project: Path
    cwd: Path
    env: Mapping[str, str]

    def which(self, program: str) -> Path | None:
        """The executable file that `program` names here. Relative entries of PATH don't count: they would run
        what lies in the repository."""
        if "/" in program:
            return _executable(Path(os.path.normpath(self.cwd / program)))
        for entry in self.env.get("PATH", os.defpath).split(os.pathsep):
            found = entry.startswith("/") and _executable(Path(entry) / program)
            if found:
                return found
        return None


def _executable(path: Path) -> Path | None:
    return path if path.is_file() and os.access(path, os.X_OK) else None


def interpreter_of(program: Path, at: Surroundings) -> Path | None:
    """The Python behind an executable: itself, or what its first lines name. None if that can't be told.

    UsageError where it names a Python that doesn't exist.
    """
    head = _head(program)
    if not head.startswith("#!"):
        return program if PYTHON.fullmatch(program.name) else None
    words = head.splitlines()[0][2:].split()
    if not words:
        return None
    trick = _EXEC_TRICK.search(head)  # how pip writes interpreters with long paths or spaces
    if trick:
        return _existing(Path(trick["path"]), program)
    if "pyenv" in head and Path(words[-1]).name in ("bash", "sh"):
        return _behind_pyenv(program, at)
    if Path(words[0]).name == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
        found = at.which(words[0]) if words and PYTHON.fullmatch(words[0]) else None
        return interpreter_of(found, at) if found and found != program else None
    return _existing(Path(words[0]), program) if PYTHON.fullmatch(Path(words[0]).name) else None


def _existing(python: Path, program: Path) -> Path:
    if not _executable(python):
        raise UsageError(
            f"{program} is made for {python}, which doesn't exist.",
            hint="Was its environment moved, or its Python removed? Make the environment anew.",
        )
    return python


def _behind_pyenv(shim: Path, at: Surroundings) -> Path | None:
    """What a pyenv shim leads to, as `pyenv which` finds it."""
    root = Path(at.env.get("PYENV_ROOT") or Path.home() / ".pyenv")
    for version in _pyenv_versions(root, at):
        if version == "system":
            others = (e for e in at.env.get("PATH", "").split(os.pathsep) if Path(e) != root / "shims")
            found = Surroundings(at.project, at.cwd, {**at.env, "PATH": os.pathsep.join(others)}).which(
                shim.name
            )
        else:
            folder = _pyenv_folder(root / "versions", version)
            found = _executable(folder / "bin" / shim.name) if folder else None
        if found and found != shim:
            return interpreter_of(found, at)
    raise UsageError(
        f"pyenv has no {shim.name} in the Python version that is chosen here.",
        hint=f"See `pyenv versions`; choose another by PYENV_VERSION, or install {shim.name} in this one.",
    )


def _pyenv_versions(root: Path, at: Surroundings) -> list[str]:
    chosen = at.env.get("PYENV_VERSION", "").replace(":", " ").split()
    files = [folder / ".python-version" for folder in (at.cwd, *at.cwd.parents)]
    for file in [] if chosen else [*files, root / "version"]:
        lines = _head(file).splitlines()
        chosen = [word for line in lines for word in line.split("#")[0].split()]
        if chosen:
            break
    return chosen or ["system"]


def _pyenv_folder(versions: Path, version: str) -> Path | None:
    name = version.removeprefix("python-")
    if "/" in name.replace("/envs/", "") or ".." in name:
        return None
    if (versions / name).is_dir():
        return versions / name

    def number(path: Path) -> list[int]:
        return [int(part) for part in re.findall(r"\d+", path.name)]

    fitting = sorted(versions.glob(f"{name}.*"), key=number) if re.fullmatch(r"[\d.]+", name) else []
    return fitting[-1] if fitting else None


def project_environment(project: Path) -> Path | None:
    """The project's own virtual environment, by its usual names."""
    places = (project / name for name in _ENVIRONMENTS)
    return next((p for p in places if (p / "pyvenv.cfg").is_file() and (p / "bin/python").exists()), None)


def has_module(interpreter: Path, name: str) -> bool:
    """Whether a module is installed for `interpreter`, as far as its site-packages show."""
    return any(
        (site / name / "__init__.py").is_file() or (site / f"{name}.py").is_file()
        for site in editable.site_packages(interpreter)
    )


def is_script_of(program: Path, module: str) -> bool:
    """Whether an executable is a console script of a Python module (or pyenv's way to one)."""
    head = _head(program)
    return head.startswith("#!") and re.search(rf"\b(?:_?{module}|pyenv)\b", head) is not None


def _head(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_HEAD).decode("utf-8", "surrogateescape")
    except OSError:
        return ""
