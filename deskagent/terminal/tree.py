"""Process trees as /proc shows them. Linux; elsewhere every tree looks empty.

The supervisor imports this module on every start, so it needs `os` alone.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # typing takes 3 ms to import
if TYPE_CHECKING:
    from collections.abc import Iterator

MARK = "DESKAGENT_RUN"
"""Environment variable that every process of one run carries: finds them when their supervisor is gone."""

_PROC = "/proc"


class Process:
    """One process: ids, state letter, resident bytes.

    Taken from `status`: reading `stat` waits for an exec in progress, on a busy machine for seconds.
    """

    __slots__ = ("group", "name", "parent", "pid", "resident", "session", "state")

    def __init__(self, pid: int, status: bytes) -> None:
        fields = dict(line.split(b":\t", 1) for line in status.splitlines() if b":\t" in line)
        self.pid = pid
        self.name = fields[b"Name"].decode("utf-8", "replace")
        self.state = fields[b"State"][:1].decode()
        self.parent = int(fields[b"PPid"])
        self.group = int(fields.get(b"NSpgid", b"0").split()[0])  # the first is as we number it
        self.session = int(fields.get(b"NSsid", b"0").split()[0])
        self.resident = int(fields.get(b"VmRSS", b"0").split()[0]) * 1024


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
    status = read_file(f"{_PROC}/{pid}/status")
    return Process(pid, status) if status else None


def terminal_of(pid: int) -> int:
    """The device number of the controlling terminal of `pid`; 0 where it has none or is gone."""
    stat = read_file(f"{_PROC}/{pid}/stat") or b""
    # The name stands in brackets and may itself hold brackets and spaces.
    fields = stat[stat.rfind(b")") + 2 :].split()
    return int(fields[4]) if len(fields) > 4 else 0


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


def walk(root: int) -> Iterator[Process]:
    """Every process below `root`, parents before children, zombies included.

    The children of one are looked up when the next is asked for: who kills each process that it gets misses no
    child of it. Not a snapshot otherwise: who forks, dies or is adopted during the walk may be missed.
    """
    if not os.access(f"{_PROC}/self/task/{os.getpid()}/children", os.R_OK):
        yield from _below(root, [process for pid in _pids() if (process := look(pid)) is not None])
        return
    pids = _children(root)
    seen = {root}
    for pid in pids:  # grows while it runs
        process = None if pid in seen else look(pid)
        if process is not None:
            seen.add(pid)
            yield process
            if process.state != "Z":
                pids += _children(pid)


def descendants(root: int) -> list[Process]:
    """All of `walk`."""
    return list(walk(root))


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
        if found:
            total += int(rest.split()[0]) * 1024
        elif now := look(process.pid):  # a kernel without rollups; what has ended meanwhile holds nothing
            total += now.resident
    return total


def marked(mark: str) -> list[int]:
    """Pids of the processes whose environment at their start held `MARK` = `mark`."""
    entry = f"{MARK}={mark}".encode()
    return [
        pid
        for pid in _pids()
        if pid != os.getpid() and entry in (read_file(f"{_PROC}/{pid}/environ") or b"").split(b"\0")
    ]
