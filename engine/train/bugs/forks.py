"""Work done in forked processes, which end with it, whatever it does."""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

SECONDS = 0.4
"""Of the processor for an item, so that a busy machine makes no bug of what is right; SIGPROF tells its end."""
_SURELY, _PATIENCE = 2, 30
"""Of the processor where no handler comes to its turn, and of the clock."""
WHOLE = 180
"""Of the clock for all items."""
_MEMORY, _FILE, _LONGEST = 1 << 30, 1 << 20, 1 << 20
"""Bytes of a process, of a file, of a line."""
_PROCESSES = 64
_OUT = 3
_POLL = 1.0
"""Seconds after which a silent process is looked at."""
Send = Callable[[object], None]
Item = TypeVar("Item")


def each(items: Sequence[Item], work: Callable[[Item], object]) -> Iterator[tuple[int, object]]:
    """What work gives for each item, by number, done in one process as long as that lives; None where it died."""
    at = 0
    while at < len(items):

        def run(_: Send, left: Sequence[Item] = items[at:]) -> None:
            for item in left:
                begin()
                try:
                    send(work(item))
                except Exception:  # what doesn't run isn't worth a record
                    send(None)

        for line in streamed(run, WHOLE):
            try:
                yield at, json.loads(line)
            except ValueError:
                yield at, None
            at += 1
        if at < len(items):
            yield at, None
            at += 1


def begin() -> None:
    """An item's time runs from now."""
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    used = int(time.process_time())
    resource.setrlimit(resource.RLIMIT_CPU, (used + _SURELY, resource.RLIM_INFINITY))
    signal.alarm(_PATIENCE)


def send(what: object) -> None:
    """From within a fork to who waits for it."""
    os.write(_OUT, json.dumps(what).encode() + b"\n")


def streamed(work: Callable[[Send], None], seconds: int) -> Iterator[bytes]:
    """Lines that work sends from a process group of its own, which is ended with it or after so many seconds."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        _forked(work, writing, seconds)
    os.close(writing)
    ended: list[int] = []
    try:
        yield from _lines(reading, pid, time.monotonic() + seconds, ended)
    finally:
        os.close(reading)
        try:
            os.killpg(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass  # nothing is left of it, or it isn't a group yet
        if not ended:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _forked(work: Callable[[Send], None], writing: int, seconds: int) -> None:
    """Doesn't come back."""
    try:
        os.setsid()
        os.dup2(writing, _OUT)
        os.closerange(_OUT + 1, 1 << 10)
        _limit()
        signal.alarm(seconds)
        work(send)
    except BaseException:  # whatever it dies of, it is ended here
        pass
    finally:
        os._exit(0)


def _limit() -> None:
    for kind, most in (
        (resource.RLIMIT_AS, _MEMORY),
        (resource.RLIMIT_FSIZE, _FILE),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, _PROCESSES),
    ):
        _, hard = resource.getrlimit(kind)
        value = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (value, value))


def _lines(reading: int, pid: int, until: float, ended: list[int]) -> Iterator[bytes]:
    """Lines until the stream ends, its process has (which is noted in `ended`), or time is out."""
    kept = b""
    while (left := until - time.monotonic()) > 0 and len(kept) < _LONGEST:
        if not select.select([reading], [], [], 0 if ended else min(left, _POLL))[0]:
            if ended:
                return
            if os.waitpid(pid, os.WNOHANG)[0]:
                ended.append(pid)  # though what it left may hold the stream open
            continue
        more = os.read(reading, 1 << 16)
        if not more:
            return
        *whole, kept = (kept + more).split(b"\n")
        yield from whole
