"""Runs a project's tests with pytest, forked from a pytest that has read its configuration already."""

import os
import unittest

import pytest
from deskagent_worker import failures
from deskagent_worker.child import Reporter

# Options that would hide results, start processes of their own, ask a person, write reports or measure coverage.
_OPTIONS = {
    "maxfail": 0,
    "stepwise": False,
    "stepwise_skip": False,
    "lf": False,
    "failedfirst": False,
    "newfirst": False,
    "usepdb": False,
    "trace": False,
    "pastebin": None,
    "xmlpath": None,
    "durations": None,
    "no_summary": True,
    "no_header": True,
    "numprocesses": None,
    "dist": "no",
    "tx": [],
    "looponfail": False,
    "forked": False,
    "reruns": 0,
    "force_reruns": 0,
    "randomly_reorganize": False,
    "random_order_enabled": False,
    "random_order_bucket": "none",
    "htmlpath": None,
    "json_report": False,
    "cov_source": [],
    "no_cov": True,
    "cov_fail_under": None,
}


def main(server):
    server.plugin = Plugin(server)
    if server.start["level"] == "bare" or not server.deeper("configured"):
        server.plugin.begin(server.serve())
    code = _pytest(server)
    if server.plugin.reporter is None:  # it ended before anything could be served
        server.give_up()
    server.plugin.finish(code)


def _pytest(server):
    try:
        return int(pytest.main(list(server.start["args"]), plugins=[server.plugin]))
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1


def _quieten(options):
    for name, value in _OPTIONS.items():
        if hasattr(options, name):
            setattr(options, name, value)


def _surely_bad(item, error):
    """Neither skipped nor, perhaps, expected to fail."""
    outcomes = (pytest.skip.Exception, pytest.xfail.Exception, unittest.SkipTest)
    return not isinstance(error, outcomes) and item.get_closest_marker("xfail") is None


class Plugin:
    """Serves from inside pytest's start-up, then reports the tests of one run."""

    def __init__(self, server):
        self.server = server
        self.reporter = None
        self.phases = {}
        self.broken = {}

    def begin(self, job):
        """This process is to run `job`: nothing is served in it any more."""
        self.reporter = Reporter(job, self.server.project)
        self.stop = job.get("stop")
        ids = job["ids"]
        self.wanted = None if ids is None else set(ids)
        self.skip = set(job.get("skip", ()))

    def finish(self, code):
        """The run is over. An end that no test explains is told as an error of the whole."""
        if self.reporter.current:  # a test has ended the run: the others have still to be run
            self.reporter.abandon(code)
        if code == 3 or (code not in (0, 1, 5) and not self.phases and not self.broken):
            self.reporter.result("", "error", 0.0, "pytest ended with exit status %d" % code, broken=True)
        self.reporter.end(code)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(self, early_config):
        _quieten(early_config.known_args_namespace)
        self._serve_or_go_on("configured", "conftests")
        outcome = yield
        if outcome.excinfo is not None and self.reporter is not None:
            self._conftest_failed(outcome.excinfo[1])

    def _conftest_failed(self, error):
        cause = getattr(error, "cause", None) or error.__cause__
        if cause is None:  # pytest before 8
            cause = getattr(error, "excinfo", (None, error))[1]
        text = failures.text_of(cause, self.server.project)
        self.broken[""] = text
        self.reporter.result(
            "", "error", 0.0, text, failures.frames_of(cause, self.server.project), broken=True
        )

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_cmdline_main(self, config):
        _quieten(config.option)
        self._serve_or_go_on("conftests", "session")
        yield

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection(self, session):
        self._serve_or_go_on("session", None)
        self._narrow(session.config)
        yield

    def _serve_or_go_on(self, level, deeper):
        """In a process that runs no job yet: serves at `level`, unless a fork of it can do so at `deeper`."""
        if self.reporter is None:
            if self.server.unfit():
                self.server.give_up()
            if deeper is None or self.server.start["level"] == level or not self.server.deeper(deeper):
                self.begin(self.server.serve())

    def _narrow(self, config):
        """Collects only the files that hold wanted tests, where each of them is a file below the root."""
        if not self.wanted:
            return
        root = str(getattr(config, "rootpath", None) or config.rootdir)
        files = sorted({os.path.join(root, name.split("::")[0]) for name in self.wanted})
        if all(os.path.isfile(name) for name in files):
            config.args = files

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items):
        yield
        items[:] = [item for item in items if self._chosen(item.nodeid)]

    def _chosen(self, name):
        if name in self.skip:
            return False
        if self.wanted is None or name in self.wanted or "" in self.wanted:
            return True
        parts = name.split("::")
        return any("::".join(parts[:n]) in self.wanted for n in range(1, len(parts)))

    @pytest.hookimpl(tryfirst=True)
    def pytest_exception_interact(self, node, call, report):
        if getattr(report, "when", None) == "collect":
            self.broken[report.nodeid] = failures.frames_of(call.excinfo.value, self.server.project)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collectreport(self, report):
        if report.failed and report.nodeid not in self.skip:
            frames = self.broken.setdefault(report.nodeid, [])
            self.reporter.result(report.nodeid, "error", 0.0, report.longreprtext, frames, broken=True)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self, nodeid):
        self.phases[nodeid] = _Phases()
        self.reporter.start(nodeid)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        phases = self.phases.get(item.nodeid)
        if phases is not None and call.excinfo is not None and not phases.frames:
            phases.frames = failures.frames_of(call.excinfo.value, self.server.project)
            if self.stop and _surely_bad(item, call.excinfo.value):
                self._tell_briefly(item.nodeid, call)
        yield

    def _tell_briefly(self, nodeid, call):
        """The first bad result ends the run: pytest's own text would take longer than all else."""
        error = call.excinfo.value
        outcome = "failed" if call.when == "call" else "error"
        text = failures.text_of(error, self.server.project)
        self.reporter.result(nodeid, outcome, call.stop - call.start, text, self.phases[nodeid].frames)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report):
        phases = self.phases.setdefault(report.nodeid, _Phases())
        phases.add(report)
        if self.stop and phases.outcome in ("failed", "error"):
            self._tell(report.nodeid)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(self, nodeid):
        self._tell(nodeid)

    def _tell(self, nodeid):
        phases = self.phases[nodeid]
        frames = phases.frames if phases.outcome in ("failed", "error") else []
        self.reporter.result(nodeid, phases.outcome, phases.seconds, phases.message, frames)


class _Phases:
    """Set-up, call and tear-down of one test, and its subtests: the worst decides."""

    _ORDER = ("skipped", "passed", "failed", "error")

    def __init__(self):
        self.outcome = "skipped"
        self.seconds = 0.0
        self.message = ""
        self.frames = []

    def add(self, report):
        self.seconds += getattr(report, "duration", 0.0)
        outcome = self._outcome(report)
        if self._ORDER.index(outcome) > self._ORDER.index(self.outcome):
            self.outcome = outcome
        if outcome in ("failed", "error"):
            self.message += report.longreprtext + "\n"

    def _outcome(self, report):
        if report.outcome == "failed":
            return "failed" if report.when == "call" else "error"
        if report.outcome == "skipped" or hasattr(report, "wasxfail") or report.when != "call":
            return "skipped"  # expected failures and their opposite say nothing about a repair
        return "passed" if report.outcome == "passed" else "skipped"
