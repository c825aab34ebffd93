"""The asking side: finds the engine's process or starts it, and survives its end."""

from __future__ import annotations

import math
import os
import select
import signal
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TypeVar

from engine.errors import CancelledError, LostError
from engine.process import wire
from engine.process.place import RuntimeFolder

_LOOK = 0.05
_AGAIN = 1.0
"""Seconds before a start that found another at work is tried again, if that one isn't there by then."""
_TRIES = 5
_SOON = 10.0
"""Seconds in which a process says how it is doing."""
_LOADING = 10
"""So many times the silence that a request may have is there until it is accepted: the model is loaded by then."""
_PEER = struct.Struct("3i")
"""Linux's `struct ucred`: process, user, group."""

_Answer = TypeVar("_Answer", bound=wire.Message)


class Client:
    """Asks the engine that serves in `folder`. Any number of threads may ask at once.

    command: starts one there. patience: seconds that a start may take until the socket is there (loading the model
    comes after). silence: seconds without a word that an accepted request may be worked on; a process that says nothing
    for longer hangs, and is killed. None: it may take for ever.
    """

    def __init__(
        self, folder: Path, command: Sequence[str], patience: float = 120.0, silence: float | None = None
    ) -> None:
        """Errors: RequestError for a folder that isn't this user's alone."""
        self._place = RuntimeFolder.at(folder)
        self._command, self._patience, self._silence = list(command), patience, silence
        self.pid: int | None = None
        """The process that took the last request."""

    def generate(
        self, question: wire.Generate, stop: threading.Event | None = None
    ) -> Generator[wire.Token | wire.End, None, None]:
        """Tokens, then the end; closing the iterator cancels, and so does setting `stop`, whatever is waited for.
        Errors: those of `Engine.generate`, LostError, and CancelledError after `stop`."""
        for message in self._ask(question, stop):
            if isinstance(message, wire.Token | wire.End):
                yield message

    def score(self, question: wire.Score) -> list[list[float]]:
        """Log-likelihoods of each continuation's tokens. Errors: those of `Engine.score`, and LostError."""
        return self._one(question, wire.Scores).tokens

    def propose(self, question: wire.Propose) -> list[tuple[str, float, int]]:
        """Text, log-likelihood and number of tokens of each answer, the best first. Errors: those of `Engine.propose`,
        and LostError."""
        return self._one(question, wire.Proposals).found

    def embed(self, question: wire.Embed) -> wire.Vectors:
        """Errors: those of `Engine.embed`, and LostError."""
        return self._one(question, wire.Vectors)

    def measure(self, pictures: Sequence[bytes]) -> list[tuple[int, int, int]]:
        """Width, height and tokens of each picture, given as files' bytes. Errors: those of `Engine.picture`, and
        LostError."""
        return self._one(wire.Measure(list(pictures)), wire.Sizes).sizes

    def _one(self, question: wire.Question, kind: type[_Answer]) -> _Answer:
        """The one answer of this kind."""
        for message in self._ask(question):
            if isinstance(message, kind):
                return message
        raise LostError(f"the engine's process gave no {kind.__name__.lower()}")

    def _ask(self, question: wire.Question, stop: threading.Event | None = None) -> Iterator[wire.Message]:
        """What the process says after it accepted; what was not accepted is asked again, of a new one if need be."""
        for _ in range(_TRIES):
            with closing(self._connect(stop)) as connection:
                try:
                    if self._silence is not None:
                        connection.settimeout(_LOADING * self._silence)
                    wire.send(connection, question)
                    _await(connection, stop)
                    first = wire.read_message(connection)
                except TimeoutError as error:
                    raise self._hung(connection) from error
                except OSError:
                    first = None
                if first is None:
                    continue  # it went before it began: as it does when it has been idle
                if isinstance(first, wire.Failed):
                    raise first.error()
                if isinstance(first, wire.Accepted):
                    self.pid = first.pid
                connection.settimeout(self._silence)
                yield from self._rest(connection, stop)
                return
        raise LostError(
            f"the engine ended {_TRIES} times before it took the request; its last words:\n{self._words()}"
        )

    def _rest(self, connection: socket.socket, stop: threading.Event | None) -> Iterator[wire.Message]:
        while True:
            try:
                _await(connection, stop)
                message = wire.read_message(connection)
            except TimeoutError as error:
                raise self._hung(connection) from error
            except OSError:
                message = None
            if message is None:
                raise LostError(
                    "the engine's process ended during the request; asking again starts it anew. Its last words:\n"
                    + self._words()
                )
            if isinstance(message, wire.Failed):
                raise message.error()
            yield message
            if isinstance(message, wire.End | wire.Scores | wire.Proposals | wire.Vectors | wire.Sizes):
                return

    def _hung(self, connection: socket.socket) -> LostError:
        """Ends the process at the other end, whose folder is this user's alone, so that nobody waits for it again."""
        pid = _peer(connection)
        if pid not in (None, os.getpid()):
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        return LostError(
            f"the engine's process said nothing for {connection.gettimeout():.0f} s and was ended; asking again starts"
            f" it anew. Its last words:\n{self._words()}"
        )

    def _connect(self, stop: threading.Event | None) -> socket.socket:
        """Errors: LostError where no process can be started; CancelledError."""
        started: subprocess.Popen[bytes] | None = None
        deadline = time.monotonic() + self._patience
        again = 0.0
        while True:
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                connection.settimeout(_SOON)  # one that hangs has a full queue at some time
                connection.connect(os.fspath(self._place.socket))
                connection.settimeout(None)
                return connection
            except OSError:
                connection.close()
            if started is None:
                started, again = self._start(), time.monotonic() + _AGAIN
            # A start that found another at work ends well, and that one will be there soon.
            elif started.poll() not in (None, 0):
                raise LostError(f"the engine did not start (exit {started.returncode}):\n{self._words()}")
            elif started.returncode == 0 and time.monotonic() > again:
                started = None
            _check(stop)
            if time.monotonic() > deadline:
                raise LostError(f"no engine after {self._patience:.0f} s:\n{self._words()}")
            time.sleep(_LOOK)

    def _start(self) -> subprocess.Popen[bytes]:
        with open(self._place.log, "ab", opener=_private) as log:
            if log.tell() > _LOG_BYTES:
                log.truncate(0)
            return subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                cwd="/",
            )

    def _words(self) -> str:
        try:
            return self._place.log.read_bytes()[-1500:].decode("utf-8", "replace").strip()
        except OSError:
            return ""


def status(folder: Path) -> wire.State | None:
    """How the engine that serves in `folder` is doing; None where none does. Starts none."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with connection:
        connection.settimeout(_SOON)
        try:
            connection.connect(os.fspath(RuntimeFolder(folder).socket))
            wire.send(connection, wire.Status())
            message = wire.read_message(connection)
        except OSError:
            return None
    return message if isinstance(message, wire.State) else None


def _await(connection: socket.socket, stop: threading.Event | None) -> None:
    """Waits until something can be read, for as long as the connection's timeout says. Errors: TimeoutError,
    CancelledError."""
    if stop is None:
        return  # reading waits as well
    limit = connection.gettimeout()
    end = math.inf if limit is None else time.monotonic() + limit
    _check(stop)
    while not select.select([connection], [], [], _LOOK)[0]:
        _check(stop)
        if time.monotonic() > end:
            raise TimeoutError


def _check(stop: threading.Event | None) -> None:
    if stop is not None and stop.is_set():
        raise CancelledError("the request was cancelled")


def _peer(connection: socket.socket) -> int | None:
    """The process that listens at the other end; None where this system doesn't tell."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return None
    pid, user, _ = _PEER.unpack(connection.getsockopt(socket.SOL_SOCKET, option, _PEER.size))
    return pid if pid > 0 and user == os.geteuid() else None


_LOG_BYTES = 1 << 20


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
