"""Small tasks for an agent with a model of the person's: `bench/agent.py [--model NAME] [TASK…]`.

A task is a folder in bench/agent: what is asked (request.txt), a project (files), and a program that fails where it
wasn't done (check.py, run in the project). Each runs in a fresh copy by `deskagent run`, as a person would have it.
Prints a line a task: whether it was done, answers, seconds, tokens. `--idle` runs no model: then every check fails.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

TASKS = Path(__file__).with_suffix("")
GRACE = 60.0
"""Seconds over its own limit after which the command is killed."""
_GIT = ("git", "-c", "user.name=bench", "-c", "user.email=bench@localhost")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tasks", nargs="*", help="names of folders; all where none is given")
    parser.add_argument("--model", default="", help="as in `deskagent model list`; else the usual one")
    parser.add_argument("--tools", default="", help="only these, apart by commas")
    parser.add_argument("--seconds", type=float, default=300.0, help="for each task")
    parser.add_argument("--turns", type=int, default=12, help="answers of the model, for each task")
    parser.add_argument("--idle", action="store_true", help="run no model")
    options = parser.parse_args()
    names = options.tasks or sorted(path.name for path in TASKS.iterdir() if path.is_dir())
    done = 0
    for name in names:
        passed, words = attempt(TASKS / name, options)
        done += passed
        print(f"{'done' if passed else 'not done':8}  {name:10}  {words}", flush=True)
    print(f"{done} of {len(names)} done, load {os.getloadavg()[0]:.1f}")
    return 0


def attempt(task: Path, options: argparse.Namespace) -> tuple[bool, str]:
    """Whether the task was done, and what it took."""
    with tempfile.TemporaryDirectory(prefix="task") as made:
        project = Path(made) / "project"
        shutil.copytree(task / "files", project)
        for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "start")):
            subprocess.run([*_GIT, *words], cwd=project, check=True)
        told = "" if options.idle else asked(project, (task / "request.txt").read_text(), options)
        env = {**os.environ, "PYTHONPATH": str(project), "PYTHONDONTWRITEBYTECODE": "1"}
        check = [sys.executable, str(task / "check.py")]
        passed = subprocess.run(check, cwd=project, env=env, capture_output=True, timeout=120).returncode == 0
        return passed, told


def asked(project: Path, request: str, options: argparse.Namespace) -> str:
    """Runs the agent, and says what it took."""
    command = [
        str(Path(sys.executable).with_name("deskagent")),
        "run",
        request.strip(),
        "--output-format",
        "json",
    ]
    command += ["--permission-mode", "auto", "--max-turns", str(options.turns)]
    command += ["--max-seconds", str(options.seconds)]
    command += ["--model", options.model] if options.model else []
    command += ["--tools", options.tools] if options.tools else []
    begun = time.monotonic()
    try:
        run = subprocess.run(
            command,
            cwd=project,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=options.seconds + GRACE,
        )
        found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    except (subprocess.TimeoutExpired, ValueError, IndexError) as error:
        return f"no result after {time.monotonic() - begun:.0f} s: {type(error).__name__}"
    usage = ", ".join(f"{key} {value}" for key, value in (found.get("usage") or {}).items())
    why = found.get("why") or (found.get("error") or {}).get("message", "")
    return f"exit {run.returncode}, {found.get('num_turns')} answers, {time.monotonic() - begun:.0f} s; {usage}  {why}"


if __name__ == "__main__":
    sys.exit(main())
