"""The folder where an engine's socket, lock and log lie: its owner's alone."""

from __future__ import annotations

import fcntl
import os
import socket
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from engine.errors import RequestError

_LONGEST = 100
"""Bytes of a socket's path; systems end at 104 to 108."""


@dataclass(frozen=True, slots=True)
class RuntimeFolder:
    folder: Path

    @classmethod
    def at(cls, folder: Path) -> RuntimeFolder:
        """Makes the folder if need be. Errors: RequestError for one that others can read, own, or have linked, or
        whose name is too long for a socket."""
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
            raise RequestError(
                f"{folder} has to be a folder of yours alone (mode 0700): the engine's socket lies there"
            )
        place = cls(folder)
        if len(os.fsencode(place.socket)) > _LONGEST:
            raise RequestError(
                f"{place.socket} is too long for a socket: choose a runtime folder with a shorter name"
            )
        return place

    @property
    def socket(self) -> Path:
        return self.folder / "engine.sock"

    @property
    def log(self) -> Path:
        return self.folder / "engine.log"

    def listen(self) -> socket.socket:
        """The socket, mode 0600; only for who holds the lock. Errors: OSError."""
        with suppress(FileNotFoundError):  # left by a process that was killed: the lock says that it is gone
            self.socket.unlink()
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        old = os.umask(0o177)
        try:
            listener.bind(os.fspath(self.socket))
        finally:
            os.umask(old)
        listener.listen(64)
        return listener

    def lock(self) -> int | None:
        """An open file that marks the one process that serves here; None where another has it. It is free again when
        its process ends, however that is."""
        lock = os.open(self.folder / "engine.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            return None
        return lock
