"""Which lines of the project's own code run, per test. Pure Python, so its cost is bounded by looking away."""

import sys
import threading

_REPEATS = 5000  # lines seen again in a function without a new one, until its lines are no longer looked at


def make_tracer(project):
    """The cheapest tracer that this Python has: sys.monitoring from 3.12 on, sys.settrace before."""
    if hasattr(sys, "monitoring"):
        for tool in (4, 3, 5):
            if sys.monitoring.get_tool(tool) is None:
                return Monitor(project, tool)
    return SetTrace(project)


def _gather(records):
    files = {}
    for path, seen in records:
        if seen:
            files.setdefault(path, set()).update(seen)
    return {
        path: sorted(lines - {0, None}) for path, lines in files.items()
    }  # line 0: of a module without statements


class Monitor:
    """By sys.monitoring: each line reports once per test, then costs nothing until the next test."""

    def __init__(self, project, tool):
        self.source = project.source
        self.tool = tool
        self.records = {}  # id of a code object → (path, lines, the code object, kept alive)
        events = sys.monitoring.events
        sys.monitoring.use_tool_id(tool, "deskagent")
        sys.monitoring.register_callback(tool, events.PY_START, self._start)
        sys.monitoring.register_callback(tool, events.LINE, self._line)
        sys.monitoring.set_events(tool, events.PY_START)

    def _start(self, code, offset):
        path = self.source(code.co_filename)
        if path is not None and id(code) not in self.records:
            self.records[id(code)] = (path, set(), code)
            sys.monitoring.set_local_events(self.tool, code, sys.monitoring.events.LINE)
        return sys.monitoring.DISABLE

    def _line(self, code, line):
        record = self.records.get(id(code))
        if record is not None:
            record[1].add(line)
        return sys.monitoring.DISABLE

    def peek(self):
        """Path → sorted lines since the last `switch`."""
        return _gather((path, lines) for path, lines, _ in list(self.records.values()))

    def switch(self):
        """Path → sorted lines since the last `switch`; starts a new count."""
        found = self.peek()
        for _, lines, _ in list(self.records.values()):
            lines.clear()
        sys.monitoring.restart_events()
        return found

    def stop(self):
        sys.monitoring.set_events(self.tool, 0)
        sys.monitoring.free_tool_id(self.tool)


class SetTrace:
    """By sys.settrace. A function whose lines have repeated long enough is left alone until the next test."""

    def __init__(self, project):
        self.source = project.source
        self.locals = {}  # id of a code object → its local trace function, or None: not of interest now
        self.records = {}  # id of a code object → [path, lines, reset, the code object, kept alive]
        self._arm()

    def _arm(self):
        threading.settrace(self._call)
        sys.settrace(self._call)

    def _call(self, frame, event, arg):
        key = id(frame.f_code)
        try:
            return self.locals[key]
        except KeyError:
            return self._meet(frame.f_code)

    def _meet(self, code):
        path = self.source(code.co_filename)
        if path is None:
            self.locals[id(code)] = None
            self.records[id(code)] = (None, (), None, code)
            return None
        seen = set()
        local, reset = self._watch(id(code), seen)
        self.locals[id(code)] = local
        self.records[id(code)] = (path, seen, reset, code)
        return local

    def _watch(self, key, seen):
        left = _REPEATS
        table = self.locals

        def local(frame, event, arg):
            nonlocal left
            line = frame.f_lineno
            if line not in seen:
                seen.add(line)
                left = _REPEATS
            else:
                left -= 1
                if left < 0:
                    frame.f_trace_lines = False  # its end is still reported, with the line
                    table[key] = None
            return local

        def reset():
            nonlocal left
            left = _REPEATS
            seen.clear()
            table[key] = local

        return local, reset

    def peek(self):
        return _gather((path, seen) for path, seen, _, _ in list(self.records.values()) if path is not None)

    def switch(self):
        found = self.peek()
        for _, _, reset, _ in list(self.records.values()):
            if reset is not None:
                reset()
        self._arm()  # a test may have taken the trace function away
        return found

    def stop(self):
        sys.settrace(None)
        threading.settrace(None)
