"""Runs a project's tests with unittest as `python -m unittest` does."""

import re
import sys
import time
import traceback
import unittest
import warnings

from deskagent_worker import failures
from deskagent_worker.child import Reporter

_HOLDER = re.compile(r"(?:setUp|tearDown)(?:Class|Module) \((.+)\)$")
_NOT_LOADED = re.compile(r"unittest\.loader\._FailedTest\.(.+)$")
_PLACE = re.compile(r'File "(.+?)", line (\d+), in (\S+)')


class _Program(unittest.TestProgram):
    def runTests(self):
        """Leaves the suite in `self.test`."""


def main(server):
    job = server.serve()
    reporter = Reporter(job, server.project)
    result = _Result(reporter, server.project)
    try:
        suite = _choose(list(server.start["args"]), job)
    except SystemExit as end:
        reporter.result(
            "", "error", 0.0, "python -m unittest ended with exit status %s" % end.code, broken=True
        )
        reporter.end(2)
    except Exception as error:  # a module named in the command that can't be imported
        frames = failures.frames_of(error, server.project)
        reporter.result("", "error", 0.0, traceback.format_exc(), frames, broken=True)
        reporter.end(1)
    with warnings.catch_warnings():
        if not sys.warnoptions:
            warnings.simplefilter("default")
        suite.run(result)
    reporter.end(0)


def _choose(args, job):
    """The tests of the command that the job wants, in their order."""
    wanted, skip = job["ids"], set(job.get("skip", ()))
    if not wanted and not skip:
        return _Program(module=None, argv=["python -m unittest", *args], exit=False).test
    if wanted and "" not in wanted:
        narrow = _pick(_by_name(wanted), set(wanted), skip)
        if {_id(test) for test in narrow} >= set(wanted) - skip:
            return unittest.TestSuite(narrow)
    everything = _Program(module=None, argv=["python -m unittest", *args], exit=False).test
    names = set(wanted) if wanted and "" not in wanted else None
    return unittest.TestSuite(_pick(everything, names, skip))


def _by_name(wanted):
    """A suite of the classes that hold `wanted`, found by their names alone."""
    holders = dict.fromkeys(name.rpartition(".")[0] or name for name in wanted)
    try:
        return unittest.defaultTestLoader.loadTestsFromNames(holders)
    except (Exception, SystemExit):  # told by the whole command, which comes next
        return unittest.TestSuite()


def _pick(suite, wanted, skip):
    return [t for t in _flat(suite) if _id(t) not in skip and (wanted is None or _in(_id(t), wanted))]


def _in(name, wanted):
    parts = name.split(".")
    return any(".".join(parts[:n]) in wanted for n in range(1, len(parts) + 1))


def _flat(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from _flat(test)
        else:
            yield test


def _id(test):
    """A test's dotted name; of a class or module that could not be set up or imported, its own."""
    name = test.id()
    holder = _HOLDER.match(name) or _NOT_LOADED.match(name)
    return holder.group(1) if holder else name


class _Result(unittest.TestResult):
    def __init__(self, reporter, project):
        super().__init__()
        self.reporter = reporter
        self.project = project
        self.running = None

    def startTest(self, test):
        super().startTest(test)
        self.running = test
        self.began = time.perf_counter()
        self.outcome = "passed"
        self.broken = bool(_NOT_LOADED.match(test.id()))
        self.message = ""
        self.frames = []
        self.reporter.start(_id(test))

    def stopTest(self, test):
        if self.running is None:  # Python 3.12.1 starts no test that is skipped, but stops it
            return
        self.running = None
        seconds = time.perf_counter() - self.began
        self.reporter.result(_id(test), self.outcome, seconds, self.message, self.frames, self.broken)
        super().stopTest(test)

    def _bad(self, test, outcome, err):
        error = err[1]
        message = "".join(traceback.format_exception(err[0], error, err[2]))
        frames = failures.frames_of(error, self.project) or self._frames_in(message)
        if self.running is None:  # set-up or tear-down of a class or module
            self.reporter.result(_id(test), "error", 0.0, message, frames)
            return
        self.outcome = "error" if "error" in (outcome, self.outcome) else outcome
        self.message += message
        self.frames = self.frames or frames
        if self.reporter.job.get("stop"):
            self.reporter.result(_id(self.running), self.outcome, 0.0, self.message, self.frames, self.broken)

    def _frames_in(self, message):
        """Of an import that failed, unittest keeps the text alone."""
        found = [
            (self.project.inside(path) or path, int(line), name)
            for path, line, name in _PLACE.findall(message)
        ]
        return [list(place) for place in found if not place[0].startswith("/")]

    def addError(self, test, err):
        self._bad(test, "error", err)

    def addFailure(self, test, err):
        self._bad(test, "failed", err)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self._bad(test, "failed" if issubclass(err[0], test.failureException) else "error", err)

    def addSkip(self, test, reason):
        if self.running is None:
            self.reporter.result(_id(test), "skipped", 0.0)
        elif self.outcome == "passed":
            self.outcome = "skipped"

    def addExpectedFailure(self, test, err):
        self.outcome = "skipped"

    def addUnexpectedSuccess(self, test):
        self.outcome, self.message = (
            "failed",
            "Unexpected success: the test is marked as an expected failure.",
        )
