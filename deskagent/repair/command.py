"""What a test command line really runs: which runner, which interpreter, with which arguments, where.

Found out by reading files alone: nothing of the project and none of its programs is started for it. A program
is what the person's own PATH says; the project's virtual environment is looked at only for one that PATH
lacks.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from deskagent.errors import UsageError
from deskagent.repair import evidence
from deskagent.repair.interpreter import (
    PYTHON,
    Surroundings,
    interpreter_of,
    is_script_of,
    project_environment,
)
from deskagent.repair.recipes import look_through
from deskagent.repair.shellline import Word, parse

Runner = Literal["pytest", "unittest", "command"]

_PYTEST = re.compile(r"(?:py\.test|pytest)(?:-?3(?:\.\d+)?)?")
_COVERAGE = re.compile(r"coverage(?:-?3(?:\.\d+)?)?")
_PYTHON_VALUED = {"-W", "-X", "--check-hash-based-pycs"}
_COVERAGE_VALUED = {
    "--rcfile",
    "--source",
    "--source-pkgs",
    "--include",
    "--omit",
    "--context",
    "--data-file",
    "--concurrency",
}
_MODULES: dict[str, Runner] = {"pytest": "pytest", "py.test": "pytest", "unittest": "unittest"}
_DEPTH = 5  # programs that run programs


@dataclass(frozen=True)
class TestCommand:
    """A test command, taken apart.

    `line`         as the person gave it, or as it was detected; `argv`         what to start for the exact
    command, `argv[0]` a path or a name on the given PATH; `runner`       "pytest" and "unittest" can be run
    by the warm worker; of "command" only the exit code speaks; `interpreter`  absolute path of the Python
    that runs the tests (a venv's own `bin/python`, links not
                   resolved), None where that can't be told;
    `args`         the runner's own arguments: what follows `pytest` or `python -m unittest`;
    `as_module`    run by `python -m`, which puts the folder it runs in on the import path;
    `env`          variables the line itself sets (`FOO=1 pytest`);
    `cwd`          where it runs, relative to the project (`.` but for `cd sub && …`);
    `detected`     found in the project's files and not given by the person;
    `how`          in words, what was found and where.
    """

    __test__ = False
    line: str
    argv: tuple[str, ...]
    runner: Runner
    interpreter: Path | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: Path = Path()
    detected: bool = False
    how: str = ""
    as_module: bool = False


@dataclass(frozen=True)
class _Tests:
    """What a command turned out to run."""

    runner: Runner
    interpreter: Path | None
    args: tuple[str, ...]
    at: Surroundings
    how: str
    as_module: bool = False


def resolve(line: str, project: Path, env: Mapping[str, str], *, start: Path | None = None) -> TestCommand:
    """Takes a test command line apart as it would run in `start` (default: `project`) with `env`.

    UsageError for a program that doesn't exist, a broken line, a folder outside the project.
    """
    project = project.resolve()
    at = Surroundings(project, (start or project).resolve(), env)
    _check_text(line)
    commands = parse(line)
    simple = _simple(commands, at) if commands else None
    if simple is None:
        return _by_shell(line, at)
    words, at = simple
    added = _added(at.env, env)
    if not words:
        raise UsageError(f"`{line}` runs nothing.", hint='Name a test command: --test "pytest -q".')
    program, note = _program(words[0], at)
    if program is None:
        raise _not_found(words[0], at)
    argv = (words[0] if at.which(words[0]) else str(program), *words[1:])
    tests = _understand(argv, at, _DEPTH)
    if tests is None:
        return TestCommand(
            line,
            argv,
            "command",
            env=added,
            cwd=_inside(at),
            how=f"{program}{note}: its exit code alone speaks",
        )
    env_of_tests = {k: v for k, v in _added(tests.at.env, env).items() if k not in ("PATH", "VIRTUAL_ENV")}
    return TestCommand(
        line=line,
        argv=argv,
        runner=tests.runner,
        interpreter=tests.interpreter,
        args=tests.args,
        env={**added, **env_of_tests},
        cwd=_inside(at),
        how=f"{tests.runner} by {tests.interpreter}{note}{tests.how}",
        as_module=tests.as_module,
    )


def detect(project: Path, env: Mapping[str, str], *, start: Path | None = None) -> TestCommand | None:
    """The test command that the project's files speak for, None if they don't.

    A folder between `start` (default: `project`) and the project that is set up as a project of its own comes
    first, the innermost of all; the command then runs there. UsageError where the files speak for one, and what
    they ask for isn't installed.
    """
    project = project.resolve()
    start = (start or project).resolve()
    between = [f for f in (start, *start.parents) if f != project and f.is_relative_to(project)]
    for folder in (*filter(evidence.is_project, between), project):
        found = evidence.find(Surroundings(project, folder, env))
        if found is not None:
            return replace(resolve(found.line, project, env, start=folder), detected=True, how=found.how)
    return None


def _check_text(line: str) -> None:
    if any(ord(char) < 32 and char not in "\t\n" for char in line):
        raise UsageError(f"The test command holds control characters: {line!r}", hint="Type it anew.")


def _by_shell(line: str, at: Surroundings) -> TestCommand:
    how = "a shell line: its exit code alone speaks"
    return TestCommand(line, ("sh", "-c", line), "command", cwd=_inside(at), how=how)


def _simple(
    commands: Sequence[Sequence[Word]], at: Surroundings
) -> tuple[tuple[str, ...], Surroundings] | None:
    """The one program of `cd x && export A=1 && B=2 program …` with where and with what it runs; None where
    there is more than one."""
    for command in commands[:-1]:
        words = [word.text for word in command]
        if words[0] == "cd" and len(words) == 2 and not command[1].globs:
            at = replace(at, cwd=Path(os.path.normpath(at.cwd / words[1])))
            if not at.cwd.is_dir():
                raise UsageError(
                    f"cd {words[1]}: there is no such folder in {at.project}.", hint="Is it spelt right?"
                )
            _inside(at)
        elif words[0] == "export" and len(words) > 1 and all(word.assigns for word in command[1:]):
            at = replace(at, env={**at.env, **dict(word.split("=", 1) for word in words[1:])})
        elif words[0] in ("source", ".") and len(words) == 2 and words[1].endswith("bin/activate"):
            home = Path(os.path.normpath(at.cwd / words[1])).parent.parent
            if not (home / "pyvenv.cfg").is_file():
                return None
            path = f"{home / 'bin'}{os.pathsep}{at.env.get('PATH', os.defpath)}"
            at = replace(at, env={**at.env, "PATH": path, "VIRTUAL_ENV": str(home)})
        else:
            return None
    last = commands[-1]
    first = next((i for i, word in enumerate(last) if not word.assigns), len(last))
    at = replace(at, env={**at.env, **dict(word.text.split("=", 1) for word in last[:first])})
    words = tuple(text for word in last[first:] for text in _globbed(word, at.cwd))
    if words[:1] in (("bash",), ("sh",)) and len(words) == 3 and words[1] in ("-c", "-ec", "-lc"):
        inner = parse(words[2])
        return _simple(inner, at) if inner else None
    return words, at


def _globbed(word: Word, cwd: Path) -> list[str]:
    """What a shell makes of a word with `*`: the names that fit, or the word itself if none does."""
    if not word.globs:
        return [word.text]
    return sorted(glob.glob(word.text, root_dir=cwd)) or [word.text]  # noqa: PTH207 - absolute patterns too


def _inside(at: Surroundings) -> Path:
    try:
        return at.cwd.resolve().relative_to(at.project)
    except ValueError:
        raise UsageError(
            f"{at.cwd} lies outside of the project {at.project}, which alone is copied for tests.",
            hint="Run the tests from inside the project.",
        ) from None


def _added(env: Mapping[str, str], before: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if before.get(name) != value}


def _program(name: str, at: Surroundings) -> tuple[Path | None, str]:
    """The file that a name leads to, and what is worth saying about it."""
    found = at.which(name)
    own = project_environment(at.project)
    in_own = own / "bin" / name if own and "/" not in name else None
    if in_own is None or not in_own.exists():
        return found, ""
    if found is None:
        return at.which(str(in_own)), f" (not on PATH; {in_own.relative_to(at.project)} is used)"
    return found, "" if found == in_own else f" (first on PATH; {in_own.relative_to(at.project)} exists too)"


def _not_found(name: str, at: Surroundings) -> UsageError:
    path = at.cwd / name
    if "/" in name and path.exists():
        return UsageError(f"{name} can't be executed.", hint=f"Is it a program? If so: chmod +x {path}")
    if "/" in name:
        return UsageError(
            f"There is no {name} in {at.cwd}.", hint="Is the path right, and relative to that folder?"
        )
    others = [
        other
        for other in ("python3", "python")
        if PYTHON.fullmatch(name) and other != name and at.which(other)
    ]
    hint = (
        f"Here it is called {others[0]}."
        if others
        else "Is it installed, and its virtual environment active?"
    )
    return UsageError(f"The test command's program `{name}` was not found on PATH.", hint=hint)


def _understand(words: Sequence[str], at: Surroundings, depth: int) -> _Tests | None:
    """What tests a simple command runs, None where that can't be told."""
    program = at.which(words[0])
    if program is None or depth == 0:
        return None
    name = program.name
    if _PYTEST.fullmatch(name) and is_script_of(program, "pytest"):
        return _tests("pytest", program, words[1:], at)
    if _COVERAGE.fullmatch(name) and is_script_of(program, "coverage"):
        return _coverage(words[1:], interpreter_of(program, at), at)
    if PYTHON.fullmatch(name):
        return _python(words, program, at)
    inner = look_through(words, at)
    if inner is None:
        return None
    tests = _understand(inner.words, inner.at, depth - 1)
    return replace(tests, how=f"{tests.how}, {inner.how}" if inner.how else tests.how) if tests else None


def _tests(
    runner: Runner, program: Path, args: Sequence[str], at: Surroundings, as_module: bool = False
) -> _Tests | None:
    interpreter = interpreter_of(program, at)
    return _Tests(runner, interpreter, tuple(args), at, "", as_module) if interpreter else None


def _python(words: Sequence[str], program: Path, at: Surroundings) -> _Tests | None:
    """`python [options] -m module …`"""
    index = 1
    while index < len(words) and words[index].startswith("-") and words[index] not in ("-m", "-c", "-"):
        index += 2 if words[index] in _PYTHON_VALUED else 1
    if index + 1 >= len(words) or words[index] != "-m":
        return None
    module, args = words[index + 1], words[index + 2 :]
    if module in _MODULES:
        return _tests(_MODULES[module], program, args, at, as_module=True)
    if module == "coverage":
        return _coverage(args, interpreter_of(program, at), at)
    return None


def _coverage(args: Sequence[str], interpreter: Path | None, at: Surroundings) -> _Tests | None:
    """`coverage run [options] -m module …`"""
    if not args or args[0] != "run" or interpreter is None:
        return None
    index = 1
    while index < len(args) and args[index].startswith("-") and args[index] != "-m":
        index += 2 if args[index] in _COVERAGE_VALUED else 1
    module = args[index + 1] if index + 1 < len(args) and args[index] == "-m" else ""
    if module not in _MODULES:
        return None
    return _Tests(
        _MODULES[module], interpreter, tuple(args[index + 2 :]), at, ", under coverage", as_module=True
    )
