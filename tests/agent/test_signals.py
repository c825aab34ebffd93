from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from deskagent.agent.report import Report
from deskagent.agent.signals import Stopped

CODE = """
import os, signal
from deskagent.agent.signals import Stopped, ignore, signals_raise
{before}
try:
    with signals_raise():
        {within}
        os.kill(os.getpid(), signal.{name})
        print("went on")
except Stopped as stop:
    print(stop.exit_code)
print(signal.getsignal(signal.{name}) == {after})
"""


def run(name: str, before: str = "", within: str = "", after: str = "signal.SIG_DFL") -> list[str]:
    code = CODE.format(name=name, before=before, within=within or "pass", after=after)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split("\n")[:-1]


@pytest.mark.parametrize(
    ("name", "code", "after"),
    [
        ("SIGINT", "130", "signal.default_int_handler"),
        ("SIGTERM", "143", "signal.SIG_DFL"),
        ("SIGHUP", "129", "signal.SIG_DFL"),
    ],
)
def test_a_signal_becomes_an_exception_and_the_old_handlers_come_back(
    name: str, code: str, after: str
) -> None:
    # As a terminal starts a program; a background job may have these ignored.
    before = "signal.signal(signal.SIGINT, signal.default_int_handler)\nsignal.signal(signal.SIGHUP, signal.SIG_DFL)"
    assert run(name, before=before, after=after) == [code, "True"]


def test_nohup_stays_in_force() -> None:
    ignored = "signal.signal(signal.SIGHUP, signal.SIG_IGN)"
    assert run("SIGHUP", before=ignored, after="signal.SIG_IGN") == ["went on", "True"]


def test_what_is_left_at_the_end_is_not_interrupted() -> None:
    assert run("SIGTERM", within="ignore()") == ["went on", "True"]


def test_a_report_says_it_in_words() -> None:
    report = Report("x")
    report.fail(Stopped(signal.SIGTERM), 143)
    assert report.error == {"message": "stopped by SIGTERM", "hint": ""}
    report.fail(ValueError("no"), 70)
    assert report.error == {"message": "ValueError: no", "hint": ""}
