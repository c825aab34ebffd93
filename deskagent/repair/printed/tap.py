"""TAP as `node --test` prints it: results with names, the error and its stack in YAML below."""

from __future__ import annotations

import re
from pathlib import Path

from deskagent.repair.printed.places import relative, script_frames
from deskagent.repair.types import Frame, Outcome, TestResult

_START = re.compile(r"^( *)# Subtest: (.*)$")
_POINT = re.compile(r"^( *)(not )?ok \d+(?: - (.*?))?(?: # (SKIP|TODO)\b.*)?$", re.IGNORECASE)
_TIME = re.compile(r"^\s*duration_ms: ([\d.]+)", re.MULTILINE)
_LOCATION = re.compile(r"^\s*location: '(.+?):(\d+):\d+'", re.MULTILINE)
_PARENT = re.compile(r"^\s*(?:type: 'suite'|failureType: 'subtestsFailed')", re.MULTILINE)


def read(lines: list[str], root: Path) -> tuple[TestResult, ...] | None:
    """The results, None where the lines are no TAP. A suite is left out unless it fails by itself."""
    if not any(line.startswith("TAP version") for line in lines):
        return None
    results: list[TestResult] = []
    names: list[str] = []
    said: list[str] = []  # diagnostics before a result: why a file didn't load
    index = 0
    while index < len(lines):
        line = lines[index]
        index += 1
        if found := _START.match(line):
            depth = len(found[1]) // 4
            names[depth:] = [_plain(found[2])]
            continue
        found = _POINT.match(line)
        if not found:
            if line.startswith("# ") or line == "#":
                said.append(line[2:])
            continue
        depth = len(found[1]) // 4
        block = []
        if index < len(lines) and lines[index].strip() == "---":
            index += 1
            while index < len(lines) and lines[index].strip() != "...":
                block.append(lines[index])
                index += 1
        path = [*names[:depth], _plain(found[3] or "")]
        name = " > ".join(relative(part, root) for part in path)
        text = "\n".join(block)
        parent = _PARENT.search(text) is not None
        inside = any(r.outcome.bad and r.id.startswith(f"{name} > ") for r in results)
        if parent and (not found[2] or inside):
            said = []
            continue
        results.append(_result(_fresh(name, results), found, text, said, root))
        said = []
    return tuple(results)


def _result(name: str, found: re.Match[str], block: str, said: list[str], root: Path) -> TestResult:
    time = _TIME.search(block)
    seconds = float(time[1]) / 1000 if time else 0.0
    if found[4]:
        return TestResult(name, Outcome.SKIPPED, seconds)
    if not found[2]:
        return TestResult(name, Outcome.PASSED, seconds)
    message = "\n".join([*said, block])
    frames = script_frames(message, root)
    if where := _LOCATION.search(block):
        start = Frame(relative(where[1], root), int(where[2]), "")
        frames = frames if start.path in {frame.path for frame in frames} else (start, *frames)
    outcome = Outcome.TIMEOUT if "testTimeoutFailure" in block else Outcome.FAILED
    return TestResult(name, outcome, seconds, message.strip(), frames)


def _plain(name: str) -> str:
    return name.replace("\\#", "#").replace("\\\\", "\\").strip()


def _fresh(name: str, results: list[TestResult]) -> str:
    """`name`, numbered where an earlier test has it too."""
    taken = {result.id for result in results}
    count = 1
    fresh = name
    while fresh in taken:
        count += 1
        fresh = f"{name} ({count})"
    return fresh
