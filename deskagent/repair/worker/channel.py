"""Lines of JSON over file descriptors that the tests can't easily reach."""

import fcntl
import json
import os

HIGH = 500  # where our descriptors live: above what tests close in a row


def move_up(fd):
    """A private, close-on-exec copy of `fd` with a high number; `fd` itself is closed."""
    try:
        new = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, HIGH)
    except OSError:  # a low limit on open files
        new = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)
    os.close(fd)
    return new


def write_all(fd, data):
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def encode(message):
    return json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"


class Lines:
    """Cuts what is read from `fd` into lines. A line over `limit` bytes is dropped."""

    def __init__(self, fd, limit=64 << 20):
        self.fd = fd
        self.limit = limit
        self.rest = b""
        self.ended = False

    def read(self):
        """Reads once and returns the whole lines there are; sets `ended` at the end of the stream."""
        try:
            data = os.read(self.fd, 1 << 16)
        except BlockingIOError:
            return []
        if not data:
            self.ended = True
            return []
        lines = (self.rest + data).split(b"\n")
        self.rest = lines.pop()
        if len(self.rest) > self.limit:
            self.rest = b""
        return lines


class Host:
    """The worker's line to deskagent: what were standard input and output, which now lead nowhere."""

    def __init__(self):
        null = os.open(os.devnull, os.O_RDWR)
        self.input = move_up(os.dup(0))
        self.output = move_up(os.dup(1))
        os.dup2(null, 0)
        os.dup2(null, 1)
        os.close(null)
        self.lines = Lines(self.input)
        self.waiting = []

    def poll(self):
        """Messages that have come, after one read; None once deskagent is gone."""
        self.waiting.extend(json.loads(line) for line in self.lines.read() if line)
        if self.lines.ended and not self.waiting:
            return None
        messages, self.waiting = self.waiting, []
        return messages

    def next(self):
        """The next message, however long it takes; None once deskagent is gone."""
        while not self.waiting:
            self.waiting.extend(json.loads(line) for line in self.lines.read() if line)
            if self.lines.ended and not self.waiting:
                return None
        return self.waiting.pop(0)

    def send(self, message):
        write_all(self.output, b"z" + encode(message))

    def pass_on(self, lines):
        write_all(self.output, b"".join(b"c" + line + b"\n" for line in lines))

    def close(self):
        os.close(self.input)
        os.close(self.output)
