"""Kills `deskagent fix` at storage operation N, goes on with the session, and looks at what came of it.

    python bench/kill.py [--every 1] [--from 1] [--to 0]

Operations are those of the session's journal and blobs and those that change the project's files. For each N the
process gets SIGKILL in front of the N-th; then the tree must be as before or as repaired; then `fix --continue` must
end repaired with one session (or say that none had begun), undo must bring back every byte, and nothing may lie
about. Prints a line for each N and a JSON summary.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

SOURCE = b"def add(a, b):\r\n    return a - b\r\n"
TEST = """import unittest
from calc import add

class T(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(1, 2), 3)
    def test_zero(self):
        self.assertEqual(add(0, 0), 0)
"""
WORDS = ["fix", "add subtracts", "--test", "python3 -m unittest -q", "--max-candidates", "6"]
FILES = ("open_write", "write", "sync", "truncate", "rename", "remove", "make_dir", "sync_dir")
APPLY = ("_write_beside", "_exchange", "_remove", "_finish", "_check_what_came_out")


def child(at: int, words: list[str]) -> int:
    """deskagent with a kill at operation `at` (0: never; then the count goes to fd 3)."""
    from deskagent import cli
    from deskagent.repo import apply
    from deskagent.session import files

    done = 0

    def counted(module: object, name: str) -> None:
        real = getattr(module, name)

        def wrapped(*args, **kwargs):
            nonlocal done
            done += 1
            if done == at:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **kwargs)

        setattr(module, name, wrapped)

    for name in FILES:
        counted(files, name)
    for name in APPLY:
        counted(apply, name)
    sys.argv[1:] = words
    code = cli.main()
    if not at:
        os.write(3, str(done).encode())
    return code


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--from", dest="first", type=int, default=1)
    parser.add_argument("--to", type=int, default=0)
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    options, words = parser.parse_known_args()
    if options.child is not None:
        sys.exit(child(options.child, words))
    total = options.to or count()
    outcomes: Counter[str] = Counter()
    for at in range(options.first, total + 1, options.every):
        outcome = one(at)
        outcomes[outcome.split(":")[0]] += 1
        print(f"{at:4}  {outcome}", flush=True)
    print(json.dumps({"operations": total, "tried": sum(outcomes.values()), **outcomes}))
    sys.exit(1 if outcomes["WRONG"] else 0)


def count() -> int:
    with tempfile.TemporaryDirectory(prefix="kill-") as folder:
        project, run = make(Path(folder))
        reading, writing = os.pipe()
        start = [sys.executable, __file__, "--child", "0", *WORDS]
        env = run.env
        done = subprocess.run(
            ["sh", "-c", f'exec 3>&{writing}; exec "$0" "$@"', *start],
            cwd=project, env=env, capture_output=True, pass_fds=(writing,), check=False,
        )  # fmt: skip
        os.close(writing)
        if done.returncode:
            sys.exit(f"the undisturbed run failed: {done.stderr.decode()}")
        with os.fdopen(reading) as answer:
            return int(answer.read())


class Run:
    """The command in a folder with a home of its own."""

    def __init__(self, project: Path, home: Path) -> None:
        self.project = project
        self.env = os.environ | {"DESKAGENT_HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}

    def __call__(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        start = [sys.executable, "-m", "deskagent", *words]
        return subprocess.run(start, cwd=self.project, env=self.env, capture_output=True, check=False)


def make(folder: Path) -> tuple[Path, Run]:
    project = folder / "project"
    project.mkdir()
    (project / "calc.py").write_bytes(SOURCE)
    (project / "test_calc.py").write_text(TEST)
    return project, Run(project, folder / "home")


def one(at: int) -> str:
    with tempfile.TemporaryDirectory(prefix="kill-") as folder:
        project, run = make(Path(folder))
        start = [sys.executable, __file__, "--child", str(at), *WORDS]
        killed = subprocess.run(start, cwd=project, env=run.env, capture_output=True, check=False)
        repaired = SOURCE.replace(b"-", b"+")
        before = (project / "calc.py").read_bytes()
        if before not in (SOURCE, repaired):
            return f"WRONG: the tree is neither: {before!r}"
        on = run("fix", "--continue", "--output-format", "json")
        if on.returncode == 2 and b"no session" in on.stdout:
            return "no session had begun"
        result = json.loads(on.stdout.splitlines()[-1]) if on.stdout else {}
        told = f"killed {killed.returncode}, resumed {on.returncode} {result.get('status')} {result.get('notices')}"
        if on.returncode or result["status"] != "fixed" or not result["applied"]:
            return f"WRONG: {told} {result.get('error')} {on.stderr.decode()[-300:]}"
        if (project / "calc.py").read_bytes() != repaired:
            return f"WRONG: not repaired; {told}"
        undone = run("undo", "--output-format", "json")
        if undone.returncode or (project / "calc.py").read_bytes() != SOURCE:
            return f"WRONG: not undone: {undone.stderr.decode()}"
        names = sorted(p.name for p in project.iterdir() if p.name != "__pycache__")
        if names != ["calc.py", "test_calc.py"]:
            return f"WRONG: left behind: {names}"
        return f"repaired: {told}"


if __name__ == "__main__":
    main()
