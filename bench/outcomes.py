"""Writes how every test ended, one JSON line `{"id", "outcome"}` a test, to the file named by BENCH_OUTCOMES.

Two doors: a pytest plugin (`-p outcomes` with this folder on PYTHONPATH) and a stand-in for unittest's own
command line (`python outcomes.py ARGUMENTS`). Standard library alone: any project's interpreter can run it.
"""

import json
import os
import sys
from pathlib import Path


def _write(test_id, outcome):
    with Path(os.environ["BENCH_OUTCOMES"]).open("a", encoding="utf-8") as out:
        out.write(json.dumps({"id": test_id, "outcome": outcome}) + "\n")


def pytest_collectreport(report):
    if report.failed:
        _write(report.nodeid, "error")


def pytest_runtest_logreport(report):
    if report.when == "call":
        _write(report.nodeid, report.outcome)
    elif report.failed:
        _write(report.nodeid, "error")
    elif report.skipped:
        _write(report.nodeid, "skipped")


def _unittest_main(argv):
    import unittest

    class Result(unittest.TextTestResult):
        def addSuccess(self, test):
            super().addSuccess(test)
            _write(test.id(), "passed")

        def addFailure(self, test, err):
            super().addFailure(test, err)
            _write(test.id(), "failed")

        def addError(self, test, err):
            super().addError(test, err)
            _write(test.id(), "error")

        def addSkip(self, test, reason):
            super().addSkip(test, reason)
            _write(test.id(), "skipped")

        def addExpectedFailure(self, test, err):
            super().addExpectedFailure(test, err)
            _write(test.id(), "skipped")

        def addSubTest(self, test, subtest, err):
            super().addSubTest(test, subtest, err)
            if err is not None:
                _write(test.id(), "failed")

    sys.path.insert(0, str(Path.cwd()))
    runner = unittest.TextTestRunner(resultclass=Result)
    unittest.main(module=None, argv=["unittest", *argv], testRunner=runner)


if __name__ == "__main__":
    _unittest_main(sys.argv[1:])
