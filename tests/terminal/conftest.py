"""Real processes: how to write a command for a test, and how to find what it left behind."""

import os
import secrets
import sys
import time
from pathlib import Path

import pytest

from deskagent.terminal.environment import base_env
from deskagent.terminal.sandbox import Unconfined
from deskagent.terminal.types import Command, Limits, Policy


@pytest.fixture
def free():
    """The arguments for running without a sandbox."""
    return {"sandbox": Unconfined(), "policy": Policy()}


@pytest.fixture
def command(tmp_path):
    """Makes a command of words, in `tmp_path`."""

    def make(*argv, pty=False, env=None, **more):
        return Command(tuple(argv), more.pop("cwd", tmp_path), base_env(env, pty=pty), pty=pty, **more)

    return make


@pytest.fixture
def sh(command):
    """Makes a command of a shell line."""
    return lambda line, **more: command("sh", "-c", line, **more)


@pytest.fixture
def py(command):
    """Makes a command of a Python program."""
    return lambda code, **more: command(sys.executable, "-c", code, **more)


class Marked:
    """Processes whose arguments hold a token that no other test uses."""

    def __init__(self):
        self.token = f"31{secrets.randbelow(10**9):09d}"  # also a number of seconds for sleep

    def alive(self):
        found = []
        for entry in Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            except (OSError, IndexError):
                continue
            if entry.name.isdigit() and state != "Z" and self.token.encode() in words:
                found.append(int(entry.name))
        return found

    def wait(self, count, seconds=60.0):
        """The pids once there are `count` of them; what there is after `seconds`."""
        until = time.monotonic() + seconds
        while len(found := self.alive()) != count and time.monotonic() < until:
            time.sleep(0.02)
        return found


@pytest.fixture
def once():
    """Runs something under a limit of seconds that grows until `done` holds: how long a start takes depends on how
    busy the machine is."""

    def go(attempt, done, seconds=(0.5, 4, 30)):
        for limit in seconds:
            found = attempt(Limits(seconds=limit))
            if done():
                break
        return found

    return go


@pytest.fixture
def marked():
    found = Marked()
    yield found
    for pid in found.alive():  # a failed test must not leave what it looked for
        os.kill(pid, 9)
