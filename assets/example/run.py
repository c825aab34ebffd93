"""`make run`: makes a small git repository with a bug in it, and lets the installed deskagent repair it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from deskagent.terminal.sandbox import find_sandbox
from deskagent.terminal.types import Rung

SOURCE = '''\
"""Turns a monthly ledger into lines for a statement."""


def running_balance(opening, amounts):
    """The balance after each amount, oldest first."""
    balance = opening
    balances = []
    for amount in amounts:
        balance += amount
        balances.append(balance)
    return balances


def overdrawn_days(opening, amounts):
    """How many days ended below zero. A balance of exactly zero is not overdrawn."""
    return sum(1 for balance in running_balance(opening, amounts) if balance <= 0)


def largest_drop(balances):
    """The largest fall from one day to the next, 0 if the balance never fell."""
    drops = [before - after for before, after in zip(balances, balances[1:])]
    return max([0, *drops])
'''

TESTS = """\
from ledger import largest_drop, overdrawn_days, running_balance


def test_running_balance():
    assert running_balance(10, [5, -20, 1]) == [15, -5, -4]


def test_overdrawn_days():
    assert overdrawn_days(10, [-20, 5, 100]) == 2


def test_zero_is_not_overdrawn():
    assert overdrawn_days(10, [-10, 0, -1]) == 1


def test_largest_drop():
    assert largest_drop([10, 4, 9, 8]) == 6
    assert largest_drop([1, 2]) == 0
"""


def git(folder: Path, *args: str) -> None:
    identity = ["-c", "user.name=Example", "-c", "user.email=example@localhost"]
    subprocess.run(["git", "-C", folder, *identity, *args], check=True, stdout=subprocess.DEVNULL)


def main() -> int:
    folder = Path(tempfile.mkdtemp(prefix="deskagent-example-"))
    (folder / "ledger.py").write_text(SOURCE)
    (folder / "test_ledger.py").write_text(TESTS)
    if shutil.which("git"):
        git(folder, "init", "--quiet")
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "-m", "A ledger with a bug in it")
    tool = Path(sys.executable).with_name("deskagent")
    request = "an account at exactly zero is counted as overdrawn"
    print(f'An example repository: {folder}\n\n$ deskagent fix "{request}" --test "pytest -q"\n', flush=True)
    # The example's tests run with the pytest beside this interpreter.
    env = os.environ | {"PATH": f"{tool.parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    mode = "auto"
    if find_sandbox().rung is Rung.NONE:
        print(
            "No sandbox works on this machine (see `deskagent doctor`): the example's own tests run without one.\n"
        )
        mode = "full"
    command = [tool, "fix", request, "--test", "pytest -q", "--permission-mode", mode]
    return subprocess.run(command, cwd=folder, env=env).returncode


if __name__ == "__main__":
    sys.exit(main())
