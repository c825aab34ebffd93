"""Runs a case's tests in a folder and says how each one ended, without the product under test."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import other_runners

HERE = Path(__file__).resolve().parent
BAD = ("failed", "error")


class TestsTimedOut(Exception):
    """The tests ran longer than they may."""

    __test__ = False


def environment(extra: Mapping[str, str] | None = None, python: str = sys.executable) -> dict[str, str]:
    """The environment for tests: the interpreter's folder first on PATH, no bytecode, no pytest plugins."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COVERAGE_"))}
    env["PATH"] = f"{Path(python).absolute().parent}{os.pathsep}{env.get('PATH', os.defpath)}"
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    return {**env, **(extra or {})}


def _observed(command: str, python: str) -> tuple[dict[str, str], list[str]]:
    """`command` (pytest or unittest as a person types it) as variables and an argv that writes outcomes."""
    words = shlex.split(command)
    variables = {}
    while words and "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        variables[name] = value
    if words[:1] == ["pytest"]:
        words = ["python", "-m", *words]
    if words[0] not in ("python", "python3") or words[1] != "-m":
        raise ValueError(f"a case's test command is pytest or python -m …, not {command!r}")
    if words[2] == "pytest":
        return variables, [python, "-m", "pytest", "-p", "outcomes", "-p", "no:cacheprovider", *words[3:]]
    if words[2] == "unittest":
        return variables, [python, str(HERE / "outcomes.py"), *words[3:]]
    raise ValueError(f"neither pytest nor unittest: {command!r}")


def run_tests(
    folder: Path,
    command: str,
    *,
    seconds: float = 60.0,
    python: str = sys.executable,
    extra_env: Mapping[str, str] | None = None,
    only: Iterable[str] = (),
) -> dict[str, str]:
    """Test id → "passed", "failed", "error" or "skipped", for `command` run in `folder`.

    `only` are further arguments, such as test ids. A test that breaks in more than one phase keeps the worst.
    TestsTimedOut after `seconds`; the whole process group is gone by then.
    """
    if shlex.split(command)[0] in other_runners.PROGRAMS:
        try:
            return other_runners.run(folder, command, environment(extra_env, python), seconds)
        except subprocess.TimeoutExpired:
            raise TestsTimedOut(f"{command} in {folder} ran over {seconds:.0f} s") from None
    with tempfile.TemporaryDirectory(prefix="bench-outcomes-") as scratch:
        out = Path(scratch) / "outcomes.jsonl"
        variables, argv = _observed(command, python)
        env = {**environment(extra_env, python), **variables}
        env["BENCH_OUTCOMES"] = str(out)
        env["PYTHONPATH"] = os.pathsep.join(filter(None, [env.get("PYTHONPATH", ""), str(HERE)]))
        child = subprocess.Popen(
            [*argv, *only],
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            child.wait(seconds)
        except subprocess.TimeoutExpired:
            raise TestsTimedOut(f"{command} in {folder} ran over {seconds:.0f} s") from None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        outcomes: dict[str, str] = {}
        if out.exists():
            for line in out.read_text("utf-8").splitlines():
                record = json.loads(line)
                if outcomes.get(record["id"]) not in BAD:
                    outcomes[record["id"]] = record["outcome"]
        return outcomes


def bad(outcomes: Mapping[str, str]) -> set[str]:
    """The ids of tests that failed or broke."""
    return {test for test, outcome in outcomes.items() if outcome in BAD}
