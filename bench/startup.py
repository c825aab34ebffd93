"""How long `deskagent --version` takes against `python -c pass`: the ratio of their best times in one run."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

ROUNDS = 30


def seconds(*command: str | Path) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def main() -> None:
    tool = Path(sys.executable).with_name("deskagent")
    plain, ours = [], []
    for _ in range(ROUNDS):  # side by side, so that both see the same machine
        plain.append(seconds(sys.executable, "-c", "pass"))
        ours.append(seconds(tool, "--version"))
    print(f"python -c pass       {min(plain) * 1000:6.1f} ms")
    print(f"deskagent --version  {min(ours) * 1000:6.1f} ms")
    print(f"ratio                {min(ours) / min(plain):6.2f}   (goal: at most 3)")


if __name__ == "__main__":
    main()
