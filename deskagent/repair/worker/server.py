"""The prepared process: waits for jobs, forks one process for each, watches it, cleans up after it.

A worker prepares itself in levels, each a fork of the one before (runner imported; its configuration and plugins
read; initial conftests imported; session begun; third-party modules imported). A level that would hold modules of
the project, threads or sockets is given up, and the level below serves: the project's code is always imported after
the fork of a run.
"""

import contextlib
import gc
import importlib
import importlib.metadata
import os
import select
import shutil
import signal
import stat
import sys
import tempfile
import threading
import time

from deskagent_worker import channel, child, system
from deskagent_worker.paths import Project, forget_hidden

_STAY = 77  # exit status of a level that is not fit to serve
_TAIL = 8192  # bytes kept of what a run prints


class Server:
    def __init__(self):
        self.host = channel.Host()
        self.start = self.host.next() or sys.exit(0)
        self.project = Project(self.start["project"])
        self.level = "bare"
        self.folder = os.path.join(tempfile.gettempdir(), self.start["folder"])
        self.sockets = _sockets()
        self.wake = None

    def deeper(self, level):
        """Forks. In the child: True, which is at `level` from now on and must call `serve` or `give_up`.

        In the parent: False if the child gave up, so that this process serves itself; else it doesn't return.
        """
        _flush()
        pid = os.fork()
        if pid == 0:
            system.die_with_parent()
            self.level = level
            return True
        _, status = os.waitpid(pid, 0)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) == _STAY:
            return False
        os._exit(0)

    def unfit(self, known=()):
        """Why this process must not be forked from, in words; empty if it may. `known` are paths of modules of the
        project that it may hold, as the level below holds them."""
        if threading.active_count() > 1:
            return "threads"
        if _sockets() - self.sockets:
            return "sockets"
        loaded = [p for p in self.project.loaded() if p not in known and not p.endswith("conftest.py")]
        return "imports " + loaded[0] if loaded else ""

    def give_up(self):
        os._exit(_STAY)

    def serve(self):
        """Takes jobs until deskagent goes away. Returns a job only in the process that is to run it."""
        self._prepare()
        while True:
            message = self.host.next()
            if message is None:
                system.kill_children()
                os._exit(0)
            if message["op"] == "run":
                job = self._run(message)
                if job is not None:
                    return job
            elif message["op"] == "preload":
                if self.deeper(self.level + "+"):
                    self._preload(message["names"])
                self._prepare()

    def _prepare(self):
        """Gets ready to fork, and says so."""
        system.adopt_orphans()
        gc.collect()
        gc.freeze()
        self.captures = _captures()
        if self.wake is None:
            reader, writer = os.pipe()
            self.wake = (channel.move_up(reader), channel.move_up(writer))
            for fd in self.wake:
                os.set_blocking(fd, False)
        signal.signal(
            signal.SIGCHLD, _nothing
        )  # again after a preload: modules take such things for themselves
        signal.set_wakeup_fd(self.wake[1], warn_on_full_buffer=False)
        self.host.send(
            {"e": "ready", "level": self.level, "loaded": self.project.loaded(), "python": sys.version}
        )

    def _preload(self, names):
        # pytest rewrites its plugins' modules as it reads its configuration, and warns of those it finds imported
        late = _plugins() if self.level == "bare+" else set()
        known = self.project.loaded()
        for name in names:
            if name not in sys.modules and name.partition(".")[0] not in late:
                # whatever an import does wrong here, it will do again, and be seen, in the test run itself
                with contextlib.suppress(BaseException):
                    importlib.import_module(name)
        if self.unfit(known):
            self.give_up()

    def _run(self, job):
        folder = os.path.join(self.folder, str(job["n"]))
        os.makedirs(folder, 0o700)
        reports, report_to = map(channel.move_up, os.pipe())
        output, print_to = map(channel.move_up, os.pipe())
        _flush()
        pid = os.fork()
        if pid == 0:
            self.host.close()
            for fd in (reports, output, *self.wake):
                os.close(fd)
            child.enter(job, report_to, print_to, folder)
            return job
        os.close(report_to)
        os.close(print_to)
        try:
            done = self._watch(pid, job, channel.Lines(reports), output)
        finally:
            os.close(reports)
            os.close(output)
            system.kill_children()
            shutil.rmtree(folder, ignore_errors=True)
            for fd in self.captures:
                os.ftruncate(fd, 0)
                os.lseek(fd, 0, os.SEEK_SET)
        self.host.send(done)
        return None

    def _watch(self, pid, job, reports, output):
        """Passes on what the run reports until it has ended or is killed for its time."""
        os.set_blocking(reports.fd, False)
        os.set_blocking(output, False)
        poll = select.poll()
        for fd in (reports.fd, output, self.wake[0], self.host.input):
            poll.register(fd, select.POLLIN)
        tail = b""
        end = total = time.monotonic() + job["seconds"]
        why = None
        status = None
        while status is None:
            left = end - time.monotonic()
            if left <= 0 and why is None:
                if time.monotonic() < total and system.wants_cpu(pid):
                    end = time.monotonic() + 0.5  # its processor time is limited already: the machine is busy
                    continue
                why = "timeout"
            if why is not None:
                system.kill_group(pid)
            quiet = 5 if reports.ended else 50 if why else 500  # ms, should the wake-up be lost
            ready = {fd for fd, _ in poll.poll(max(1.0, min(left * 1000, quiet)))}
            if self.wake[0] in ready:
                os.read(self.wake[0], 4096)
            if self.host.input in ready:
                messages = self.host.poll()
                if messages is None or any(m["op"] == "cancel" for m in messages):
                    why = why or "cancelled"
                    if messages is None:
                        poll.unregister(self.host.input)
            end = self._forward(reports, ready, total, end, poll)
            if output in ready:
                tail = self._drain(output, tail, poll)
            gone, status = os.waitpid(pid, os.WNOHANG)
            status = status if gone else None
        _drain_all(lambda: self._forward(reports, {reports.fd}, total, end, None) and not reports.ended)
        tail = self._drain(output, tail, None)
        code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        if why is None and code == -signal.SIGPROF:
            why = "timeout"
        return {
            "e": "done",
            "n": job["n"],
            "why": why,
            "code": code,
            "output": tail.decode("utf-8", "replace"),
        }

    def _forward(self, reports, ready, total, end, poll):
        """Sends reports on; a line `@seconds` grants that much wall time from now. Returns the new deadline."""
        if reports.fd not in ready:
            return end
        lines = reports.read()
        if reports.ended and poll is not None:
            poll.unregister(reports.fd)
        grants = [line for line in lines if line[:1] == b"@"]
        if grants:
            with contextlib.suppress(ValueError):
                end = min(total, time.monotonic() + float(grants[-1][1:]))
        self.host.pass_on(line for line in lines if line[:1] == b"{")
        return end

    def _drain(self, output, tail, poll):
        try:
            data = os.read(output, 1 << 18)
        except BlockingIOError:
            return tail
        if not data and poll is not None:
            poll.unregister(output)
        return (tail + data)[-_TAIL:]


def _drain_all(step):
    """Calls `step` while it is true, up to what a pipe can hold."""
    for _ in range(4):
        if not step():
            return


def _sockets():
    """Inodes of the open sockets: a connection must not be shared between runs."""
    found = set()
    for fd in os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []:
        with contextlib.suppress(OSError):
            target = os.readlink("/proc/self/fd/" + fd)
            if target.startswith("socket:"):
                found.add(target)
    return found


def _captures():
    """Open files without a name: what the runner catches output in. A fork shares them with its forerunners."""
    found = []
    for fd in map(int, os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else []:
        with contextlib.suppress(OSError):
            status = os.fstat(fd)
            if stat.S_ISREG(status.st_mode) and not status.st_nlink:
                found.append(fd)
    return found


def _plugins():
    """Top-level names of all that came with pytest plugins."""
    found = set()
    with contextlib.suppress(Exception):  # an installation may be broken in any way: pytest says so itself
        for distribution in importlib.metadata.distributions():
            if any(point.group == "pytest11" for point in distribution.entry_points):
                found.update(file.parts[0].partition(".")[0] for file in distribution.files or ())
    return found


def _flush():
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()


def _nothing(signum, frame):
    """SIGCHLD needs a handler for the wake-up pipe to be written to."""


def main(before):
    """Serves; `before` are the names of the modules that Python itself has imported."""
    server = Server()
    folders = {os.getcwd(), server.start["project"], os.path.join(server.start["project"], "src")}
    forget_hidden(set(sys.modules) - before, folders)
    if server.start["cwd_first"]:
        sys.path.insert(0, os.getcwd())
    sys.argv = [server.start["runner"], *server.start["args"]]
    if server.start["runner"] == "pytest":
        from deskagent_worker import run_pytest as runner
    else:
        from deskagent_worker import run_unittest as runner
    runner.main(server)
