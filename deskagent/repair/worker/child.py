"""The process of one run: its limits and what it reports."""

import gc
import importlib
import os
import resource
import signal
import sys

from deskagent_worker import channel, failures, system
from deskagent_worker.tracer import make_tracer

_FILE_SIZE = 1 << 30  # bytes: the largest file a test may write


def enter(job, report_to, print_to, folder):
    """Turns a fork of the worker into a process that looks as if the runner had just been started."""
    os.setsid()
    system.die_with_parent()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.dup2(print_to, 1)
    os.dup2(print_to, 2)
    os.close(print_to)
    job["report_to"] = report_to
    job["base"] = system.memory("VmSize")
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, _FILE_SIZE)
    if job.get("memory"):
        _limit(resource.RLIMIT_AS, job["base"] + job["memory"])
    os.environ["TMPDIR"] = folder
    if "tempfile" in sys.modules:
        sys.modules["tempfile"].tempdir = None
    # Bytecode of the unedited tree is kept in the scratch copy whatever the person's environment says: without it
    # pytest would rewrite a test file's assertions for every candidate anew.
    sys.dont_write_bytecode = not job.get("bytecode")
    if sys.dont_write_bytecode:
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    importlib.invalidate_caches()
    gc.unfreeze()  # what the worker froze was hidden from gc.get_referrers and the like


def _limit(what, most):
    _, hard = resource.getrlimit(what)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(what, (most, hard))


class Reporter:
    """Tells the worker what happens in this run, and ends it at the first bad result if the job says so.

    A job: `ids` to run (None: all), `skip` ids to leave out, `stop` at the first bad result, `trace`, `first` look
    (places of hangs and imported modules are told), `bytecode` may be written, `memory` bytes more than the worker
    has, `limit` CPU seconds a test, `slow` {id: CPU seconds} for others, `gather` CPU seconds for imports and
    collection, `seconds` of wall time for the whole, `probe` what to try beside the tests (see probe.Probe).
    """

    def __init__(self, job, project):
        self.job = job
        self.project = project
        self.pid = os.getpid()
        self.tracer = make_tracer(project) if job.get("trace") else None
        self.probe = self._make_probe() if job.get("probe") else None
        self.current = ""
        self.parts = {}
        if job.get("first"):  # where it hangs is worth knowing
            signal.signal(signal.SIGPROF, self._out_of_time)
        self._allow(job["gather"])

    def _make_probe(self):
        from deskagent_worker.probe import Probe  # what it imports, tests don't get to see else

        return Probe(self.job["probe"], self.project, self._send)

    def _send(self, message):
        if os.getpid() == self.pid:  # not from a process that a test forked
            channel.write_all(self.job["report_to"], channel.encode(message))

    def _allow(self, seconds):
        """From now on `seconds` of CPU time, and wall time enough for a test that sleeps."""
        if os.getpid() == self.pid:
            signal.setitimer(signal.ITIMER_PROF, seconds)
            channel.write_all(self.job["report_to"], b"@%.3f\n" % (3 * seconds + 2))

    def start(self, test):
        """A test begins."""
        if self.tracer is not None:
            self._cover("", self.tracer.switch())
        self.current = test
        self._send({"e": "start", "id": test})
        self._allow(self.job.get("slow", {}).get(test, self.job["limit"]))
        if self.probe is not None:
            self.probe.switch(test)

    def result(self, test, outcome, seconds, message="", frames=(), broken=False):
        """A test has ended, or something that holds tests could not be had (`broken`: imported or collected)."""
        if self.probe is not None:
            self.probe.switch("")
        if self.tracer is not None and test == self.current:
            self._cover(test, self.tracer.switch())
        self.current = ""
        told = {
            "e": "result",
            "id": test,
            "outcome": outcome,
            "seconds": seconds,
            "frames": frames,
            "broken": broken,
        }
        told["message"] = failures.shorten(message)
        self._send(told)
        if self.job.get("stop") and outcome in ("failed", "error"):
            self.end(0)
        self._allow(self.job["gather"])

    def _cover(self, test, files):
        if files:
            self._send({"e": "cover", "id": test, "files": files})

    def _out_of_time(self, signum, frame):
        import traceback

        where = failures.frames_of_stack(frame, self.project)
        if self.tracer is not None:
            self._cover(self.current, self.tracer.peek())
        text = "Ran out of CPU time. It was here:\n" + "".join(traceback.format_stack(frame)[-12:])
        self._send(
            {
                "e": "result",
                "id": self.current,
                "outcome": "timeout",
                "seconds": 0.0,
                "message": failures.shorten(text),
                "frames": where,
            }
        )
        os._exit(0)

    def abandon(self, code):
        """Ends this process in the middle of a test, which is told by what is missing."""
        _flush()
        os._exit(code or 1)

    def end(self, code):
        """Ends this process at once. What it leaves is cleaned up by the worker."""
        if os.getpid() != self.pid:
            os._exit(code)
        signal.setitimer(signal.ITIMER_PROF, 0)
        if self.tracer is not None:
            self._cover("", self.tracer.peek())
            self.tracer.stop()
        if self.probe is not None:
            self.probe.stop()
        if self.job.get("first"):
            self._send({"e": "modules", "names": self.project.foreign_modules()})
        self._send({"e": "end", "code": code, "peak": system.memory("VmPeak") - self.job["base"]})
        _flush()
        os._exit(0)


def _flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            pass
