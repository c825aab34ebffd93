"""The process between deskagent and everything it starts: whatever happens, nothing stays behind.

    deskagent ══ control socket ══ supervisor ── shim ── command ── …

It adopts every orphan below it (PR_SET_CHILD_SUBREAPER), watches time, memory and number of processes, and
at the end kills and reaps until it has no child left, also those that left the session or ignore SIGTERM.
The end of the control socket means that deskagent is gone, however it died. The shim is what the command
sees as its parent: a command that kills its parent doesn't hit the supervisor.

Runs as `python -I -S -E`, so it imports next to nothing: each millisecond here is paid at every start.

On the control socket both sides send marshalled dicts after a length of 4 bytes (same interpreter, same
user). In: the job, then {"stop": grace seconds}. Out: {"pid": …} or {"errno": …, "where": …}, at the end
{"end": …}.

Without /proc no orphans are found and the command's process group is killed: written for macOS, untested.
"""

from __future__ import annotations

import _signal as signal  # pyright: ignore[reportMissingImports] - the public module imports enum: 5 ms
import marshal
import os
import select
import time

from deskagent.terminal.launch import LINUX, PR_SET_CHILD_SUBREAPER, kill, launch, prctl
from deskagent.terminal.tree import Process, proportional, resident, walk

_CLEANUP_SECONDS = 1.5
_LAST_SECONDS = 60.0


def send(control: int, message: dict[str, object]) -> None:
    """Writes one message. OSError where the other side is gone."""
    data = marshal.dumps(message)
    data = len(data).to_bytes(4, "big") + data
    while data:
        data = data[os.write(control, data) :]


def receive(control: int) -> dict[str, object] | None:
    """Reads one message, waiting for it; None at the end."""
    head = _read_exactly(control, 4)
    body = _read_exactly(control, int.from_bytes(head, "big")) if head else None
    return marshal.loads(body) if body else None


def _read_exactly(fd: int, count: int) -> bytes | None:
    data = b""
    while len(data) < count:
        try:
            chunk = os.read(fd, count - len(data))
        except ConnectionResetError:
            return None
        if not chunk:
            return None
        data += chunk
    return data


class _Watch:
    """The command's tree from its start to its end."""

    def __init__(self, job: dict, control: int, command: int, shim: int) -> None:
        self.job = job
        self.control = control
        self.command = command
        self.shim = shim
        self.status: int | None = None  # wait status of the command
        self.childless = False
        self.reason = "exit"
        self.used = 0  # of what the limit that ended it counts
        self.started = time.monotonic()
        self.kill_at: float | None = None
        self.next_look = self.started + 0.1
        self.wake, waker = os.pipe()
        for fd in (self.wake, waker):
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(number, lambda *_: self.stop("gone", 0.0))
        self.poller = select.poll()
        self.poller.register(self.wake, select.POLLIN)
        self.poller.register(control, select.POLLIN)

    def tree(self) -> list[Process]:
        """What runs, as far as one more than is allowed."""
        most = self.job["processes"]
        found = []
        for process in walk(os.getpid()):
            if process.pid != self.shim and process.state != "Z":
                found.append(process)
                if most is not None and len(found) > most:
                    break
        return found

    def reap(self) -> None:
        for _ in range(2000):  # a fork bomb leaves more than one can ever finish with
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                self.childless = True
                return
            if pid == 0:
                return
            if pid == self.command:
                self.status = status

    def stop(self, reason: str, grace: float) -> None:
        """Asks everything to end; after `grace` seconds it isn't asked any more."""
        if self.kill_at is None:
            self.reason = reason
        self.kill_at = min(self.kill_at or float("inf"), time.monotonic() + grace)
        if grace <= 0:
            if self.status is None:  # not reaped, so the number still means the command's group
                kill(-self.command, signal.SIGKILL)
            return
        for process in self.tree():
            # A wrapper that dies takes what it wraps with it at once: leave that for the end of the grace.
            if not (self.job["wrapped"] and process.pid == self.command):
                kill(process.pid, signal.SIGTERM)
                kill(process.pid, signal.SIGCONT)

    def look(self) -> None:
        """Compares the tree with its limits and says when to look again."""
        began = time.monotonic()
        memory, processes = self.job["memory"], self.job["processes"]
        tree = self.tree()
        room = 0.5
        if processes is not None:
            if len(tree) > processes:
                self.used = len(tree)
                self.stop("processes", 0.0)
            room = min(room, (processes - len(tree)) / 2000)  # a fork bomb starts some thousands a second
        if memory is not None:
            used = resident(tree)
            if used > memory:
                used = proportional(tree)
            if used > memory:
                self.used = used
                self.stop("memory", 0.0)
            room = min(room, (memory - used) / 8e9)  # nobody fills more than 8 GB a second
        now = time.monotonic()
        self.next_look = now + max(0.1, room, 5 * (now - began))

    def pause(self) -> float:
        """Seconds until something is due."""
        due = self.next_look
        if self.kill_at is not None:
            due = min(due, self.kill_at)
        elif self.job["seconds"] is not None:
            due = min(due, self.started + self.job["seconds"])
        return max(0.0, due - time.monotonic())

    def wait(self, seconds: float) -> None:
        """Sleeps until a child ends, deskagent speaks, or `seconds` are over."""
        for fd, _ in self.poller.poll(int(seconds * 1000) + 1):
            if fd == self.wake:
                os.read(self.wake, 4096)
            else:
                message = receive(self.control)
                if message is None:
                    self.poller.unregister(self.control)
                    self.stop("gone", 0.0)
                else:
                    self.stop("stopped", float(message["stop"]))  # type: ignore[arg-type]

    def run(self) -> None:
        """Until the command ends or must."""
        self.reap()
        while self.status is None and not self.childless:
            self.wait(self.pause())
            now = time.monotonic()
            if self.kill_at is not None and now >= self.kill_at:
                return
            limit = self.job["seconds"]
            if self.kill_at is None and limit is not None and now - self.started >= limit:
                self.stop("timeout", self.job["grace"])
            if now >= self.next_look and self.kill_at is None:
                self.look()
            self.reap()

    def clear(self, seconds: float) -> tuple[int, int]:
        """Kills and reaps until nothing is left: how many processes it found, how many are left in the end."""
        deadline = time.monotonic() + seconds
        pause = 0.001
        own = (os.getpgrp(), 0)
        found: set[int] = set()
        if not LINUX:
            kill(-self.command, signal.SIGKILL)
        while True:
            self.reap()
            if self.childless:
                return len(found), 0
            left = 0
            for process in walk(os.getpid()):
                if process.state == "Z":
                    continue
                left += 1
                if process.group not in own:
                    kill(-process.group, signal.SIGKILL)  # as one: who forks in it can't outrun that
                kill(process.pid, signal.SIGKILL)
                if process.pid not in (self.shim, self.command):
                    found.add(process.pid)
                if time.monotonic() > deadline:
                    break
            if left and time.monotonic() > deadline:
                return len(found), left
            self.wait(pause)
            pause = min(pause * 2, 0.05)


def main(control: int) -> None:
    """Reads the job from `control`, runs it, reports its end."""
    os.set_inheritable(control, False)
    job = receive(control)
    if job is None:
        return
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    command, shim, problem = launch(job, control)
    watch = _Watch(job, control, command, shim)
    try:
        if problem:
            number, _, where = problem.partition(b" ")
            send(control, {"errno": int(number), "where": where.decode()})
        else:
            send(control, {"pid": command})
            watch.run()
    except OSError:
        watch.reason = "gone"
    seconds = time.monotonic() - watch.started
    found, survivors = watch.clear(_CLEANUP_SECONDS)
    if not problem and watch.reason != "gone":
        send(
            control,
            {
                "end": watch.reason,
                "status": watch.status,
                "seconds": seconds,
                "found": found,
                "survivors": survivors,
                "used": watch.used,
            },
        )
    if survivors:
        watch.clear(_LAST_SECONDS)  # nobody waits for it any more
    os._exit(0)  # the interpreter has nothing to tidy up that is worth 2 ms
