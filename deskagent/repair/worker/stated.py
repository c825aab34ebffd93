"""Tries what a project states about its functions: doctests, examples in words, calls that stand in its code.

Everything happens in forks, from the state that the tests have brought about, kept from harm as a repeated call is.
"""

import ast
import copy
import doctest
import io
import signal
import sys
import time

from deskagent_worker import channel
from deskagent_worker.forked import forked
from deskagent_worker.repeat import PAGE, PREPARING, brief, outcome
from deskagent_worker.show import Yields

_RESPAWNS = 4  # each statement that hangs or dies costs a fork
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Stated:
    """`job` is the probe's; its `stated` are {"path", "in", "want"}: an expression to evaluate in the module at `path`
    and one to compare it with (None: nothing), or {"path", "doc"}: a docstring."""

    def __init__(self, job, project, send):
        self.statements, self.cpu, self.send = job["stated"], job["cpu"], send
        self.until = time.monotonic() + job["seconds"]
        self.modules = {}
        for module in list(sys.modules.values()):
            name = getattr(module, "__file__", None)
            path = project.source(name) if isinstance(name, str) else None
            if path is not None:
                self.modules.setdefault(path, module)

    def run(self):
        done = 0
        for _ in range(_RESPAWNS):
            messages, kind = forked(lambda page, refused, start=done: self._fork(page, refused, start))
            for message in messages:
                if "kind" in message or "examples" in message:
                    self.send({"e": "stated", **message})
                    done = message["i"] + 1
            if messages and "end" in messages[-1]:
                return
            if done < len(self.statements):
                self.send({"e": "stated", "i": done, "kind": kind, "out": "", "type": "", "held": False})
            done += 1
            if time.monotonic() > self.until:
                return

    def _fork(self, page, refused, start):
        def say(message):
            data = channel.encode(message)
            if page.tell() + len(data) < PAGE:
                page.write(data)

        for number in range(start, len(self.statements)):
            statement = self.statements[number]
            module = self.modules.get(statement["path"])
            if module is None:
                continue
            if time.monotonic() > self.until:
                break
            names = dict(vars(module))
            sys.stdout = sys.stderr = io.StringIO()
            signal.setitimer(signal.ITIMER_PROF, self.cpu)
            told = self._doc if "doc" in statement else self._expression
            found = told(statement, names, refused)
            signal.setitimer(signal.ITIMER_PROF, PREPARING)
            say({"i": number, **found})
        say({"end": 1})

    def _expression(self, statement, names, refused):
        def value_of(text):
            return outcome(lambda: eval(text, names), refused)

        kind, out, type_, value = value_of(statement["in"])
        held = None
        if statement["want"] is not None:
            wanted, _, _, want = value_of(statement["want"])
            if wanted == "returns":
                held = kind == "returns" and _equal(value, want)
        return {"kind": kind, "out": brief(out), "type": type_, "held": held}

    def _doc(self, statement, names, refused):
        """How each example of a docstring ended: [line in it, whether it holds, what it gave]."""
        test = doctest.DocTestParser().get_doctest(statement["doc"], copy.copy(names), "doc", None, 0)
        signal.setitimer(signal.ITIMER_PROF, self.cpu * (1 + len(test.examples)))
        runner = _Runner(refused)
        runner.run(test, out=lambda text: None, clear_globs=False)
        refused.clear()
        return {"examples": runner.ends}


def _equal(one, other):
    try:
        one = one.items if isinstance(one, Yields) else one
        other = other.items if isinstance(other, Yields) else other
        return bool(one == other)
    except Exception:  # a comparison of the project's own
        return False


class _Checker(doctest.OutputChecker):
    """Also takes what differs in its writing alone: the order of a set, quotes."""

    def check_output(self, want, got, optionflags):
        if doctest.OutputChecker.check_output(self, want, got, optionflags):
            return True
        try:
            return _equal(ast.literal_eval(want.strip()), ast.literal_eval(got.strip()))
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            return False


class _Runner(doctest.DocTestRunner):
    """Notes how the examples ended, up to one that was `refused` something: what comes behind it may need that."""

    def __init__(self, refused):
        doctest.DocTestRunner.__init__(self, checker=_Checker(), verbose=False, optionflags=_FLAGS)
        self.refused, self.ends = refused, []

    def _end(self, example, held, gave):
        if not self.refused:
            self.ends.append([example.lineno, held, brief(gave)])

    def report_start(self, out, test, example):
        pass

    def report_success(self, out, test, example, got):
        self._end(example, True, got.strip())

    def report_failure(self, out, test, example, got):
        self._end(example, False, got.strip())

    def report_unexpected_exception(self, out, test, example, exc_info):
        self._end(example, False, "raises " + exc_info[0].__name__)
