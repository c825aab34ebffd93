"""Work in a fork of a test's process that can't do harm and whose death tells something."""

import json
import mmap
import os
import select
import signal

from deskagent_worker import system
from deskagent_worker.repeat import PAGE, enter

_WALL = 1.0  # seconds a fork may be silent


def forked(work):
    """Runs work(page, refused) in a fork: (messages it wrote to the page, how it died).

    How: "hangs" (out of processor time), "dies", "slow" (silent for long while it waited); it says nothing where the
    last message is {"end": 1}.
    """
    page = mmap.mmap(-1, PAGE)  # shared with the fork, which need not wait for us to read
    reader, writer = os.pipe()  # ends when the fork does
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        try:
            work(page, enter())
        finally:
            os._exit(0)
    os.close(writer)
    silent, now = False, 0
    while not silent and not select.select([reader], [], [], _WALL)[0]:
        told, now = now, page.find(b"\0")
        silent = now == told and not system.wants_cpu(pid)  # else its processor time ends it
    os.close(reader)
    system.kill_group(pid)
    _, status = os.waitpid(pid, 0)
    messages = [json.loads(line) for line in page[: page.find(b"\0")].split(b"\n")[:-1]]
    page.close()
    hung = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF
    return messages, "slow" if silent else "hangs" if hung else "dies"
