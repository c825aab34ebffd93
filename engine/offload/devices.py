"""The memory that this machine has free, device by device."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch

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
    free = available()
    return [*found, Device(RAM, free if memory is None else min(free, memory))]


def available() -> int:
    """Bytes of main memory that can be taken without swapping: the machine's, or what a control group leaves."""
    meminfo, group = Path("/proc/meminfo"), Path("/sys/fs/cgroup")
    free = _UNKNOWN
    if meminfo.exists():
        line = next((one for one in meminfo.read_text().splitlines() if one.startswith("MemAvailable:")), "")
        free = int(line.split()[1]) << 10 if line else _UNKNOWN
    try:
        limit, used = (group / "memory.max").read_text().strip(), (group / "memory.current").read_text()
    except OSError:  # no control group of our own
        return free
    return free if limit == "max" else min(free, max(int(limit) - int(used), 0))
