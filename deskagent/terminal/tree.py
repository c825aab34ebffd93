"""Process trees as /proc shows them. Linux; elsewhere every tree looks empty.

The supervisor imports this module on every start, so it needs `os` alone.
"""

from __future__ import annotations

import os

MARK = "DESKAGENT_RUN"
"""Environment variable that every process of one run carries: finds them when their supervisor is gone."""

_PAGE = os.sysconf("SC_PAGE_SIZE")
_PROC = "/proc"


class Process:
    """One process: ids, state letter, the device number of its terminal (0: none), resident bytes."""

    __slots__ = ("group", "name", "parent", "pid", "resident", "session", "state", "tty")

    def __init__(self, pid: int, stat: bytes) -> None:
        # The name stands in brackets and may itself hold brackets and spaces (proc(5)).
        opened, closed = stat.index(b"("), stat.rindex(b")")
        fields = stat[closed + 2 :].split()
        self.pid = pid
        self.name = stat[opened + 1 : closed].decode("utf-8", "replace")
        self.state = fields[0].decode()
        self.parent, self.group, self.session, self.tty = map(int, fields[1:5])
        self.resident = int(fields[21]) * _PAGE


def read_file(path: str) -> bytes | None:
    """The content of a file under /proc, None where the process is gone or may not be looked at."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        chunks = []
        while chunk := os.read(fd, 65536):
            chunks.append(chunk)
        return b"".join(chunks)
    except OSError:
        return None
    finally:
        os.close(fd)


def look(pid: int) -> Process | None:
    """The process `pid`, None where there is none. Zombies are processes, of state Z."""
    stat = read_file(f"{_PROC}/{pid}/stat")
    return Process(pid, stat) if stat else None


def _pids() -> list[int]:
    try:
        return [int(name) for name in os.listdir(_PROC) if name.isdigit()]  # noqa: PTH208 - no pathlib here
    except OSError:
        return []


def threads(pid: int) -> list[int]:
    """The thread ids of `pid`."""
    try:
        return [int(name) for name in os.listdir(f"{_PROC}/{pid}/task")]  # noqa: PTH208
    except OSError:
        return []


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for thread in threads(pid):
        listed = read_file(f"{_PROC}/{pid}/task/{thread}/children")
        found.extend(map(int, (listed or b"").split()))
    return found


def descendants(root: int) -> list[Process]:
    """Every process below `root`, parents before children, zombies included.

    Not a snapshot: who forks, dies or is adopted during the walk may be missed; repeat it where it matters.
    """
    if os.access(f"{_PROC}/self/task/{os.getpid()}/children", os.R_OK):
        found: list[Process] = []
        waiting = _children(root)
        seen = {root}
        while waiting:
            pid = waiting.pop(0)
            process = None if pid in seen else look(pid)
            if process is not None:
                seen.add(pid)
                found.append(process)
                waiting += _children(pid)
        return found
    return _below(root, [process for pid in _pids() if (process := look(pid)) is not None])


def _below(root: int, processes: list[Process]) -> list[Process]:
    """`descendants` for kernels without children files: one pass over all processes."""
    by_parent: dict[int, list[Process]] = {}
    for process in processes:
        by_parent.setdefault(process.parent, []).append(process)
    found = list(by_parent.get(root, ()))
    for process in found:  # grows while it runs
        found += by_parent.get(process.pid, ())
    return found


def resident(processes: list[Process]) -> int:
    """Bytes that `processes` hold together; what they share is counted in each."""
    return sum(process.resident for process in processes)


def proportional(processes: list[Process]) -> int:
    """Bytes that `processes` hold together, shared pages counted once. Slow: milliseconds a gigabyte."""
    total = 0
    for process in processes:
        rollup = read_file(f"{_PROC}/{process.pid}/smaps_rollup") or b""
        _, found, rest = rollup.partition(b"\nPss:")
        total += int(rest.split()[0]) * 1024 if found else process.resident
    return total


def marked(mark: str) -> list[int]:
    """Pids of the processes whose environment at their start held `MARK` = `mark`."""
    entry = f"{MARK}={mark}".encode()
    return [
        pid
        for pid in _pids()
        if pid != os.getpid() and entry in (read_file(f"{_PROC}/{pid}/environ") or b"").split(b"\0")
    ]
