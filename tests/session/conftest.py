"""A store of its own for each test, and the means to run a session whose storage fails or dies at
operation N."""

from __future__ import annotations

import contextlib
import os
import pickle
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from deskagent.session import files

OPERATIONS = ("open_write", "write", "sync", "truncate", "rename", "remove", "make_dir", "sync_dir")
MEMORY = Path("/dev/shm")
Report = Callable[[str], None]


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """DESKAGENT_HOME, in memory where the machine has such a disk: thousands of syncs take no time there."""
    parent = MEMORY if os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="deskagent-test-", dir=parent) as folder:
        monkeypatch.setenv("DESKAGENT_HOME", folder)
        yield Path(folder)


@dataclass
class Fault:
    """What happens at the storage operation `at` (1-based) and the following ones, `times` in all.

    `kind`: an errno; "kill", SIGKILL before the operation; "half", SIGKILL in the middle of a write;
    "power", the machine stops and what was never synced is gone; "power, mixed", every other unsynced
    write is gone. An errno with `power_after` is followed by "power" when the work is done.
    """

    kind: int | str
    at: int
    times: int = 1
    power_after: bool = False
    operations: list[str] = field(default_factory=list)

    def strikes(self, operation: str) -> bool:
        self.operations.append(operation)
        return self.at <= len(self.operations) < self.at + self.times


class Disk:
    """What a disk holds for good: file contents by inode as of the last sync, names as of the folder's
    last sync.

    A failed sync loses what was written before it, as Linux does: the pages count as clean from then on.
    """

    def __init__(self) -> None:
        self.data: dict[int, bytearray] = {}
        self.dirty: dict[int, list[tuple[int, bytes | None]]] = {}
        self.names: dict[int, dict[str, tuple[int, bool]]] = {}

    def opened(self, fd: int, new: bool) -> None:
        inode = os.fstat(fd).st_ino
        if new:
            self.data[inode], self.dirty[inode] = bytearray(), []

    def changed(self, fd: int, offset: int, data: bytes | None) -> None:
        """Bytes written at `offset`, or with None the file cut there: not durable yet."""
        self.dirty.setdefault(os.fstat(fd).st_ino, []).append((offset, data))

    def synced(self, fd: int, *, failed: bool = False) -> None:
        inode = os.fstat(fd).st_ino
        for offset, data in self.dirty.get(inode, []):
            self._apply(inode, offset, data, lost=failed)
        self.dirty[inode] = []

    def names_synced(self, folder: Path) -> None:
        entries = {e.name: (e.stat().st_ino, e.is_dir()) for e in folder.iterdir()}
        self.names[folder.stat().st_ino] = entries

    def mix(self) -> None:
        for inode, writes in self.dirty.items():
            for index, (offset, data) in enumerate(writes):
                self._apply(inode, offset, data, lost=index % 2 == 0)

    def restore(self, folder: Path, inode: int) -> None:
        for name, (child, is_dir) in self.names.get(inode, {}).items():
            target = folder / name
            if is_dir:
                target.mkdir(exist_ok=True)
                self.restore(target, child)
            else:
                target.write_bytes(self.data.get(child, b""))

    def _apply(self, inode: int, offset: int, data: bytes | None, *, lost: bool) -> None:
        held = self.data.setdefault(inode, bytearray())
        if data is None:
            del held[offset:]
        elif not lost:
            held.extend(bytes(max(0, offset - len(held))))
            held[offset : offset + len(data)] = data


def inject(fault: Fault, disk: Disk, image: Path) -> None:
    """Puts `fault` into the storage operations of this process for good: call it in a child."""

    def strike(name: str, args: tuple[Any, ...]) -> None:
        if name == "write" and fault.kind != "kill":
            half = bytes(args[1][: len(args[1]) // 2])
            os.pwrite(args[0], half, args[2])
            disk.changed(args[0], args[2], half)
        if isinstance(fault.kind, int):
            if name == "sync":
                disk.synced(args[0], failed=True)
            raise OSError(fault.kind, os.strerror(fault.kind))
        if fault.kind == "power, mixed":
            disk.mix()
        if fault.kind.startswith("power"):
            image.write_bytes(pickle.dumps(disk))
        os.kill(os.getpid(), signal.SIGKILL)

    def operation(name: str) -> Callable[..., Any]:
        real: Callable[..., Any] = getattr(files, name)

        def run(*args: Any) -> Any:
            new = name == "open_write" and not args[0].exists()
            if fault.strikes(name):
                strike(name, args)
            result = real(*args)
            if name == "open_write":
                disk.opened(result, new)
            elif name == "write":
                disk.changed(args[0], args[2], bytes(args[1]))
            elif name == "truncate":
                disk.changed(args[0], args[1], None)
            elif name == "sync":
                disk.synced(args[0])
            elif name == "sync_dir":
                disk.names_synced(args[0])
            return result

        return run

    for name in OPERATIONS:
        setattr(files, name, operation(name))


@dataclass
class Run:
    """What a child did: what it reported, how it ended (0, or minus the signal), its storage operations if it
    lived to tell them."""

    reported: list[str]
    status: int
    operations: list[str]


@pytest.fixture
def run_with_fault(home: Path) -> Callable[[Callable[[Report], None], Fault], Run]:
    """Runs `work(report)` in a forked child under a fault, on an empty store."""
    image = home / "disk-image"

    def child(work: Callable[[Report], None], fault: Fault, pipe: int) -> None:
        def report(text: str) -> None:
            os.write(pipe, text.encode() + b"\n")

        disk = Disk()
        inject(fault, disk, image)
        try:
            work(report)
        except BaseException as error:
            report(f"crashed {error!r}")
        report("operations " + " ".join(fault.operations))
        if fault.power_after:
            image.write_bytes(pickle.dumps(disk))

    def run(work: Callable[[Report], None], fault: Fault) -> Run:
        shutil.rmtree(home / "data", ignore_errors=True)
        image.unlink(missing_ok=True)
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            with contextlib.suppress(BaseException):
                os.close(reader)
                child(work, fault, writer)
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            reported = pipe.read().decode().splitlines()
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if image.exists():
            disk: Disk = pickle.loads(image.read_bytes())
            shutil.rmtree(home / "data", ignore_errors=True)
            disk.restore(home, home.stat().st_ino)
        last = reported.pop().split()[1:] if reported and reported[-1].startswith("operations ") else []
        return Run(reported, status, last)

    return run


@pytest.fixture
def fault() -> type[Fault]:
    return Fault
