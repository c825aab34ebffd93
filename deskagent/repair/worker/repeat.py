"""The fork in which a call is repeated: kept from harm, each outcome told as soon as there is one."""

import builtins
import hashlib
import inspect
import io
import itertools
import os
import random
import signal
import sys
import time

from deskagent_worker import channel, system
from deskagent_worker.show import Yields, drained, message_of, show

_REFUSED = (
    "os.kill os.killpg os.system os.exec os.fork os.forkpty os.posix_spawn os.spawn os.remove os.rmdir os.rename "
    "os.link os.symlink os.mkdir os.truncate os.chmod os.chown os.utime os.putenv os.unsetenv os.chdir "
    "subprocess.Popen shutil.rmtree shutil.move shutil.copyfile socket.connect socket.bind socket.sendto "
    "socket.getaddrinfo signal.pthread_kill pty.spawn webbrowser.open sqlite3.connect"
)
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_NAMED = 300  # characters of an input or output that are told; the whole decides in its digest
PAGE = 1 << 17  # bytes for what a fork tells
PREPARING = 0.5  # CPU seconds for copying and showing, per try


class Refused(BaseException):
    """A repeated call wanted to change more than memory."""


def enter():
    """Makes a fork of the test's process one that can't do harm and whose death is noticed."""
    system.die_with_parent()
    os.setpgid(0, 0)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    signal.set_wakeup_fd(-1)
    refused = frozenset(_REFUSED.split())
    met = []

    def watch(event, arguments):
        if event in refused or (event == "open" and _writes(arguments)):
            refuse(event)

    def refuse(*arguments, **named):
        met.append(arguments)  # the call may catch the exception, but not this
        raise Refused(*arguments)

    sys.addaudithook(watch)
    for name in ("kill", "killpg", "abort", "fork"):  # not audited in every version
        setattr(os, name, refuse)
    time.sleep = lambda seconds: None
    builtins.input = refuse
    null = os.open(os.devnull, os.O_RDONLY)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    return met


def _awaited(coroutine):
    import asyncio

    asyncio._set_running_loop(None)  # the test's own stays behind in its process
    return asyncio.run(coroutine)


def _writes(arguments):
    _, mode, flags = arguments
    if isinstance(mode, str) and set(mode) & set("wax+"):
        return True
    return isinstance(flags, int) and bool(flags & _WRITES)


def brief(text):
    """`text`, or its head and a digest that stands for the whole."""
    if len(text) <= _NAMED:
        return text
    return "%s… #%s" % (text[:_NAMED], hashlib.sha1(text.encode("utf-8", "replace")).hexdigest()[:10])


def outcome(make, refused):
    """(kind, value or error as text, name of its type, the value) of a call. `refused` is what `enter` gave."""
    random.seed(0)
    kind, value = "returns", None
    try:
        value = drained(make())
        if inspect.iscoroutine(value):
            value = _awaited(value)
        out, type_ = show(value), type(value).__name__
    except BaseException as error:
        kind, out, type_ = "raises", message_of(error), type(error).__name__
    if refused:
        kind, out, type_ = "refused", "", ""
        refused.clear()
    if isinstance(value, Yields):
        type_ = "generator"
    return kind, out, type_, value


class Repeat:
    """The fork's own part: makes the calls, tells their outcomes."""

    def __init__(self, call, function, pool, job, page, refused):
        self.call, self.function, self.pool, self.job, self.page = call, function, pool, job, page
        self.refused = refused

    def run(self, start):
        signal.setitimer(signal.ITIMER_PROF, PREPARING)
        for number, (call, new) in enumerate(self._tries()):
            if number >= start:
                self._try(call, new)
        self._say({"end": 1})

    def _tries(self):
        try:
            first = self.call.copied()
        except Exception:  # what can't be copied is used up by the first call
            yield self.call, False
            return
        yield first, False
        seen = {self.call.text()}
        neighbours = self.call.neighbours(self.pool)
        for call in itertools.islice(neighbours, 3 * self.job["tries"]):
            text = call.text()
            if text not in seen and len(seen) <= self.job["tries"]:
                seen.add(text)
                yield call.copied(), True

    def _try(self, call, new):
        text = brief(call.text())
        self._say({"begin": [text, new]})
        sys.stdout = sys.stderr = printed = io.StringIO()
        signal.setitimer(signal.ITIMER_PROF, self.job["cpu"])
        kind, out, type_, _ = outcome(lambda: call.make(self.function), self.refused)
        signal.setitimer(signal.ITIMER_PROF, PREPARING)
        after = call.after()
        if printed.getvalue():
            after += "; prints " + show(printed.getvalue())
        self._say(
            {"in": text, "new": new, "kind": kind, "out": brief(out), "after": brief(after), "type": type_}
        )

    def _say(self, message):
        data = channel.encode(message)
        if self.page.tell() + len(data) < PAGE:
            self.page.write(data)
