"""Tries functions of the project on the inputs that tests hand them, and on neighbours of these.

Each call met in a test is repeated in a fork, from the state the test has brought about: what happens there never
reaches the test. Files, processes and the network are out of reach of a repeated call.
"""

import gc
import inspect
import sys
import threading
import time

from deskagent_worker.call import Call
from deskagent_worker.forked import forked
from deskagent_worker.repeat import Repeat

_RESUMED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_RESPAWNS = 3  # forks for one call: each hang and each crash costs one


class Probe:
    """Watches the main thread's calls of `targets`, [[path, first line], …], while tests run.

    `job` also holds `calls` (different inputs a target), `tries` (neighbours an input), `seconds` (wall time
    for all), `cpu` (seconds for one repeated call), `stated` (see stated.Stated). With `scout` only who calls the
    targets is told.
    """

    def __init__(self, job, project, send):
        self.job, self.project, self.send = job, project, send
        self.targets = {(path, line): number for number, (path, line) in enumerate(job["targets"])}
        self.test = ""
        self.codes = {}  # code → number of its target, None: none
        self.seen = [set() for _ in job["targets"]]
        self.pools = {}
        self.functions = {}
        self.entries = set()
        self.left = job["seconds"]
        sys.settrace(self._call)

    def switch(self, test):
        """`test` begins ("": none runs). A test may have taken the trace function away."""
        self.test = test
        if sys.gettrace() is None and self.left > 0:
            sys.settrace(self._call)

    def stop(self):
        """The tests have ended: what is stated of the code is tried, now that its modules are there."""
        sys.settrace(None)
        if self.job.get("stated"):
            from deskagent_worker.stated import Stated

            Stated(self.job, self.project, self.send).run()

    def _call(self, frame, event, arg):
        code = frame.f_code
        try:
            number = self.codes[code]
        except KeyError:
            path = self.project.source(code.co_filename)
            number = self.codes[code] = (
                None if path is None else self.targets.get((path, code.co_firstlineno))
            )
        if number is None or not self.test or threading.current_thread() is not threading.main_thread():
            return
        if code.co_flags & _RESUMED and frame.f_lineno != code.co_firstlineno:
            return
        sys.settrace(None)
        try:
            if self.job["scout"]:
                self._entry(frame, number)
            else:
                self._observe(frame, number)
        finally:
            if self.left > 0:
                sys.settrace(self._call)

    def _entry(self, frame, number):
        """Tells the function by which the test came here: the outermost one of the project that it called."""
        found = frame
        while frame is not None:
            name = frame.f_code.co_filename
            if self.project.source(name) is not None:
                found = found if frame.f_code.co_name[:1] == "<" else frame
            elif self.project.inside(name) is not None:
                break
            frame = frame.f_back
        code = found.f_code
        if (code, number) not in self.entries:
            self.entries.add((code, number))
            place = [self.project.source(code.co_filename), code.co_firstlineno, code.co_name]
            self.send({"e": "entry", "t": number, "id": self.test, "at": place})

    def _observe(self, frame, number):
        begun = time.monotonic()
        call = Call(frame)
        text = call.text()
        seen = self.seen[number]
        if text in seen or len(seen) >= self.job["calls"]:
            return
        seen.add(text)
        function = self._function(frame)
        if function is None:
            return
        pool = self.pools.setdefault(number, {})
        outcomes = self._forks(call, function, pool)
        call.remember(pool)
        self.left -= time.monotonic() - begun
        if outcomes:
            self.send({"e": "probe", "t": number, "id": self.test, "tries": outcomes})

    def _function(self, frame):
        """The function that runs in `frame`, without what decorates it. None if it can't be told which it is."""
        code = frame.f_code
        if code not in self.functions:
            found = [f for f in gc.get_referrers(code) if inspect.isfunction(f) and f.__code__ is code]
            self.functions[code] = found[0] if len(found) == 1 else None
        return self.functions[code]

    def _forks(self, call, function, pool):
        outcomes = []
        for _ in range(_RESPAWNS):
            ended, why = self._fork(call, function, pool, outcomes)
            if ended or why is None or self.left <= 0:
                break
            outcomes.append(why)
        return outcomes

    def _fork(self, call, function, pool, outcomes):
        """Repeats the call in a fork, from try number len(outcomes) on. (whether it came to the end, else the
        outcome of the try that it died of)"""

        def work(page, refused):
            Repeat(call, function, pool, self.job, page, refused).run(len(outcomes))

        messages, kind = forked(work)
        text, ended = None, False
        for message in messages:
            if "begin" in message:
                text = message["begin"]
            elif "end" in message:
                ended = True
            else:
                outcomes.append(message)
                text = None
        if text is None:
            return ended, None
        return ended, {"in": text[0], "new": text[1], "kind": kind, "out": "", "after": "", "type": ""}
