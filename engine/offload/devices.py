"""The memory that this machine has free, device by device."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch

from engine.weights.inspect import resident

RAM = "cpu"
_UNKNOWN = 1 << 62
"""Where the system doesn't tell: nothing is refused."""


@dataclass(frozen=True, slots=True)
class Device:
    """name: as torch has it, `cpu` or `cuda:0`. bytes: that may be used."""

    name: str
    bytes: int


def devices(memory: int | None = None, gpu_memory: int | None = None) -> list[Device]:
    """GPUs first, then main memory. memory, gpu_memory: at most so many bytes of main memory, and of each GPU."""
    found = []
    if torch.cuda.is_available():
        for number in range(torch.cuda.device_count()):
            free = torch.cuda.mem_get_info(number)[0]
            found.append(Device(f"cuda:{number}", free if gpu_memory is None else min(free, gpu_memory)))
    free = available() + resident()  # what this process has already is its own to plan with
    return [*found, Device(RAM, free if memory is None else min(free, memory))]


def available(meminfo: Path = Path("/proc/meminfo"), group: Path = Path("/sys/fs/cgroup")) -> int:
    """Bytes of main memory that can be taken without swapping: the machine's, or what a control group leaves. Pages of
    files can be had back, so they count as free."""
    free = _UNKNOWN
    if meminfo.exists():
        found = [
            line.split() for line in meminfo.read_text().splitlines() if line.startswith("MemAvailable:")
        ]
        free = int(found[0][1]) << 10 if found else _UNKNOWN
    try:
        limit, used, stat = ((group / f"memory.{name}").read_text() for name in ("max", "current", "stat"))
    except OSError:  # no control group of our own
        return free
    if limit.strip() == "max":
        return free
    files = next((int(line.split()[1]) for line in stat.splitlines() if line.startswith("file ")), 0)
    return min(free, max(int(limit) - int(used) + files, 0))
