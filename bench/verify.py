"""Candidates a second of the warm verifier, against starting the test command for each.

    python bench/verify.py FOLDER [--file PATH] [--candidates 40] [--plain 6] [--slots 2]

Each candidate is FOLDER's PATH with a comment of its own at the end: it fails like the unedited tree, so that what is
measured is the price of one verdict. Both sides run in this machine's sandbox, on copies, taking turns. Prints JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from deskagent.repair.cold import run_in
from deskagent.repair.command import TestCommand
from deskagent.repair.types import Status
from deskagent.repair.verify import Verifier
from deskagent.repo.scratch import make_scratch
from deskagent.terminal.sandbox import find_sandbox
from deskagent.terminal.types import Limits


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--file", help="the file to edit; default: the one most failing tests run")
    parser.add_argument("--candidates", type=int, default=40)
    parser.add_argument("--plain", type=int, default=6)
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--interpreter", default=sys.executable)
    options = parser.parse_args()
    args = ("-q",)
    argv = (options.interpreter, "-m", "pytest", *args)
    command = TestCommand(shlex.join(argv), argv, "pytest", Path(options.interpreter), args, as_module=True)
    sandbox = find_sandbox()
    with (
        Verifier(options.folder, command, sandbox=sandbox, slots=options.slots) as verifier,
        ThreadPoolExecutor(options.slots) as pool,
    ):
        begun = time.perf_counter()
        baseline = verifier.baseline()
        prepared = time.perf_counter() - begun
        path = options.file or _suspect(baseline)
        source = (options.folder / path).read_bytes()
        warm, plain, plain_two = [], [], []
        number = 0
        verdicts: set[str] = set()
        scratches = [make_scratch(options.folder, sandbox) for _ in range(options.slots)]
        try:
            for _ in range(options.rounds):
                begun = time.perf_counter()
                numbers = range(number, number + options.candidates)
                futures = [verifier.submit({path: source + b"\n# %d\n" % n}) for n in numbers]
                verdicts |= {f.result().status.value for f in futures}
                warm.append(options.candidates / (time.perf_counter() - begun))
                number += options.candidates
                begun = time.perf_counter()
                for _ in range(options.plain):
                    run_in(scratches[0], command, sandbox=sandbox, limits=Limits())
                plain.append(options.plain / (time.perf_counter() - begun))
                begun = time.perf_counter()
                runs = [
                    pool.submit(run_in, scratch, command, sandbox=sandbox, limits=Limits())
                    for scratch in scratches * (options.plain // options.slots)
                ]
                ended = {(run.result().result.end.value, run.result().result.code) for run in runs}
                if ended != {("exited", 1)}:
                    sys.exit(f"the plain command did not run and fail: {ended}")
                plain_two.append(len(runs) / (time.perf_counter() - begun))
        finally:
            for scratch in scratches:
                scratch.close()
    result = {
        "folder": options.folder.name,
        "rung": sandbox.rung.value,
        "slots": options.slots,
        "load": os.getloadavg()[0],
        "verdicts": sorted(verdicts),
        "baseline_seconds": round(prepared, 2),
        "warm_per_second": round(statistics.median(warm), 1),
        "plain_per_second": round(statistics.median(plain), 2),
        "plain_together_per_second": round(statistics.median(plain_two), 2),
        "ratio": round(statistics.median(w / p for w, p in zip(warm, plain, strict=True)), 1),
        "ratio_together": round(statistics.median(w / p for w, p in zip(warm, plain_two, strict=True)), 1),
    }
    print(json.dumps(result))
    if Status.GREEN.value in verdicts:
        sys.exit("a candidate that changes nothing was green")


def _suspect(baseline) -> str:
    counts: dict[str, int] = {}
    for result in baseline.failing:
        for path in baseline.coverage.get(result.id, {}):
            counts[path] = counts.get(path, 0) + 1
    if not counts:
        sys.exit("no failing test runs code of the project: name the file with --file")
    return max(counts, key=lambda path: counts[path])


if __name__ == "__main__":
    main()
