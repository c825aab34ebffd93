"""A run's log: a line of JSON a step or evaluation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engine.weights.writer import write_whole

NAME = "log.jsonl"


class Log:
    """Appends to RUN/log.jsonl. Of a run that goes on from `step`, lines of later steps are taken out first: those
    steps are done again."""

    def __init__(self, run: Path, step: int) -> None:
        path = run / NAME
        kept = [line for line in lines(run) if line["step"] <= step]
        write_whole(path, [(json.dumps(line) + "\n").encode() for line in kept])
        self._file = path.open("a", encoding="utf-8")

    def add(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def lines(run: Path) -> list[dict[str, Any]]:
    """All whole lines: a killed run may have left half a one."""
    path = run / NAME
    if not path.exists():
        return []
    found: list[dict[str, Any]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            break
    return found
