"""What `cargo test` prints."""

from __future__ import annotations

import re
from pathlib import Path

from deskagent.repair.printed.places import any_frames
from deskagent.repair.types import Outcome, TestResult

_RESULT = re.compile(r"^test (\S.*?) \.\.\. (ok|FAILED|ignored)")
_BLOCK = re.compile(r"^---- (\S.*?) stdout ----$")
_OUTCOMES = {"ok": Outcome.PASSED, "FAILED": Outcome.FAILED, "ignored": Outcome.SKIPPED}


def read(lines: list[str], root: Path) -> tuple[TestResult, ...] | None:
    """The results, None where `cargo test` didn't print the lines."""
    if not any(line.startswith("test result: ") for line in lines):
        return None
    outcomes: dict[str, Outcome] = {}
    messages: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in lines:
        if found := _RESULT.match(line):
            outcomes[found[1]] = _OUTCOMES[found[2]]
        elif found := _BLOCK.match(line):
            current = messages.setdefault(found[1], [])
        elif line.startswith(("failures:", "test result: ")):
            current = None
        elif current is not None:
            current.append(line)
    results = []
    for name, outcome in outcomes.items():
        text = "\n".join(messages.get(name, ())).strip()
        results.append(TestResult(name, outcome, 0.0, text, any_frames(text, root) if outcome.bad else ()))
    return tuple(results)
