"""What a failing test says, in the words in which a repair is asked for: run by pytest, unittest or as a script.

Of pytest's report the lines with what was asserted and the error are kept, of others all, as they are where a person's
project is repaired.
"""

from __future__ import annotations

import linecache
import re
import runpy
import sys
import traceback
import unittest
from pathlib import Path
from typing import Any

import pytest

MOST = 600
"""Characters kept: the end, where the error is."""
HANGS = "Ran out of CPU time. It was here:\n"
_FRAMES = 12
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
_PLACES = ("0x7f3b9c1d2e50", "0x7f0a4c6b8d90", "0x7fd2e81f3a40", "0x10a4c3f70")
"""Addresses told instead of those that were seen, which say nothing and can't be packed."""
_HOME = "/home/user/.cache/deskagent/scratch/q6o321bs/project"
"""Where a project is run that is to be repaired."""


def worded(session: pytest.Session, test: Path, runner: str) -> str:
    """The message of the first test of a file that failed; "" where none does."""
    sys.modules.pop(test.stem, None)
    linecache.cache.pop(str(test), None)
    return short(_RUN[runner](session, test))


def passes(test: Path) -> bool:
    """Whether a file's test holds, without a runner's own time."""
    try:
        names: dict[str, Any] = {"__name__": test.stem}
        exec(compile(test.read_text("utf-8"), str(test), "exec"), names)
        for kind in list(names.values()):
            if isinstance(kind, type) and issubclass(kind, unittest.TestCase):
                result = unittest.TestResult()
                unittest.defaultTestLoader.loadTestsFromTestCase(kind).run(result)
                if not result.wasSuccessful():
                    return False
        for name, test_function in list(names.items()):
            if name.startswith("test_"):
                rows = [mark.args[1][0] for mark in getattr(test_function, "pytestmark", ())]
                test_function(*(rows[0] if rows else ()))
    except Exception:  # it fails, in whatever way
        return False
    return True


def short(message: str) -> str:
    lines = message.splitlines()
    told = [line for line in lines if line.startswith(("E ", "> "))]
    if told:
        return "\n".join(dict.fromkeys(" ".join(line.split()) for line in told))
    return "\n".join(lines)


def settled(message: str, root: str) -> str:
    """A message with places of files and memory that could be anybody's, its end. root: of the files."""
    for place, other in (
        (str(Path.cwd()), _HOME),
        (root, _HOME),
        (sys.prefix, f"{_HOME}/.venv"),
        (sys.base_prefix, "/usr"),
    ):
        message = message.replace(place, other)
    known: dict[str, str] = {}
    message = _ADDRESS.sub(
        lambda found: known.setdefault(found[0], _PLACES[len(known) % len(_PLACES)]), message
    )
    return message[-MOST:].strip()


def stack(frame: Any) -> str:
    """Where a test is that takes too long."""
    return HANGS + "".join(traceback.format_stack(frame)[-_FRAMES:])


class Told:
    """A plugin that keeps what was said of the first failure."""

    def __init__(self) -> None:
        self.text = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.text:
            self.text = report.longreprtext

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and not self.text:
            self.text = report.longreprtext


def _pytest(session: pytest.Session, test: Path) -> str:
    told = Told()
    session.testsfailed = 0  # or what failed before ends it
    session.config.pluginmanager.register(told)
    try:
        session.perform_collect([str(test)])
        if not told.text:
            session.config.hook.pytest_runtestloop(session=session)
    finally:
        session.config.pluginmanager.unregister(told)
    return told.text


def _unittest(_: pytest.Session, test: Path) -> str:
    suite = unittest.TestSuite()
    for kind in runpy.run_path(str(test)).values():
        if isinstance(kind, type) and issubclass(kind, unittest.TestCase):
            suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(kind))
    result = _Result()
    suite.run(result)
    return result.text


class _Result(unittest.TestResult):
    text = ""

    def addError(self, test: unittest.TestCase, err: Any) -> None:
        self.text += "".join(traceback.format_exception(err[0], err[1], err[2]))

    addFailure = addError


def _script(_: pytest.Session, test: Path) -> str:
    try:
        exec(compile(test.read_text("utf-8"), str(test), "exec"), {"__name__": "__main__"})
    except Exception as error:
        start = error.__traceback__
        while start is not None and start.tb_frame.f_code.co_filename != str(test):
            start = start.tb_next
        return "".join(traceback.format_exception(type(error), error, start or error.__traceback__))
    return ""


_RUN = {"pytest": _pytest, "unittest": _unittest, "script": _script}
