"""The compiled MXFP4 product of one row against this machine's read bandwidth, side by side in one run.

    python bench/engine_kernels.py [--rows 4096] [--columns 4096] [--megabytes 512] [--rounds 7]

The weights are several matrices that together are larger than any cache, read in turn. Rounds of reading, of int8
and of exact products take turns; the figure is the median of the rounds' ratios. On one thread and on all. Prints JSON.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable

import torch

from kernels.cpu import _native


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=4096)
    parser.add_argument("--columns", type=int, default=4096)
    parser.add_argument("--megabytes", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=7)
    chosen = parser.parse_args()
    all_threads = _native.threads()
    made = {"isa": _native.names()[0], "rows": chosen.rows, "columns": chosen.columns}
    for threads in sorted({1, all_threads}):
        _native.threads(threads)
        made[f"{threads} threads"] = measured(chosen.rows, chosen.columns, chosen.megabytes, chosen.rounds)
    print(json.dumps(made, indent=1))


def measured(rows: int, columns: int, megabytes: int, rounds: int) -> dict[str, float]:
    """GB/s of each, and the medians of what share of the read bandwidth the products reach."""
    a_matrix = rows * columns * 17 // 32
    count = max(2, (megabytes << 20) // a_matrix)
    packed = torch.randint(0, 256, (count, rows, columns // 2), dtype=torch.uint8)
    scales = torch.randint(118, 126, (count, rows, columns // 32), dtype=torch.uint8)
    for memory in (packed, scales):
        _native.huge_pages(memory)
    x, out = torch.randn(1, columns), torch.empty(1, rows)
    quick, exact = _native.Native(), _native.Native(exact=True)

    def products(native: _native.Native) -> Callable[[], object]:
        return lambda: [native.mxfp4(x, packed[n], scales[n], out) for n in range(count)]

    runs = {"read": lambda: _native.read(packed), "int8": products(quick), "exact": products(exact)}
    sizes = {"read": packed.numel(), "int8": count * a_matrix, "exact": count * a_matrix}
    speeds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            begin = time.perf_counter()
            run()
            speeds[name].append(sizes[name] / (time.perf_counter() - begin) / 1e9)
    shares = {
        f"{name} / read": statistics.median(
            one / two for one, two in zip(speeds[name], speeds["read"], strict=True)
        )
        for name in ("int8", "exact")
    }
    best = {f"{name} GB/s": max(found) for name, found in speeds.items()}
    return {name: round(value, 3) for name, value in (best | shares).items()}


if __name__ == "__main__":
    main()
