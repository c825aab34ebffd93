"""What node's own listing, Jest, Vitest and Mocha print for people."""

from __future__ import annotations

import re
from pathlib import Path

from deskagent.repair.printed.places import relative, script_frames
from deskagent.repair.types import Outcome, TestResult

_PASSED, _FAILED, _SKIPPED = "✔✓√", "✖✕×✗", "○﹣↓\\-"
_LEAF = re.compile(
    rf"^(\s*)([{_PASSED}{_FAILED}{_SKIPPED}]) (.+?)(?: \(?[\d.]+ ?m?s\)?)?(?: # (?:SKIP|TODO).*)?\s*$"
)
_NUMBERED = re.compile(r"^(\s+)\d+\) (.+?)\s*$")
_GROUP = re.compile(r"^(\s*)(?:▶ )?(\S.*?)(?: \([\d.]+m?s\))?\s*$")
_FILE = re.compile(r"^\s*(?:PASS|FAIL|✓|❯|×)\s+(\S+\.[cm]?[jt]sx?)\b")
_JEST = re.compile(r"^\s+● (.+?)\s*$")
_VITEST = re.compile(r"^\s*FAIL\s+(\S+\.[cm]?[jt]sx? > .+?)\s*$")
_NODE = re.compile(r"^test at (\S+?):(\d+):\d+$")
_TOTALS = (
    re.compile(r"^\s*Tests:?\s+(?:.*?(?P<failed>\d+) failed)?(?:.*?(?P<passed>\d+) passed)?"),
    re.compile(r"^\s*(?:(?P<passed>\d+) passing|(?P<failed>\d+) failing)\b"),
    re.compile(r"^(?:ℹ|#) (?:pass (?P<passed>\d+)|fail (?P<failed>\d+))$"),
)


def read(lines: list[str], root: Path) -> tuple[TestResult, ...] | None:
    """The results, None where no such runner printed the lines."""
    if totals(lines) is None:
        return None
    outcomes = _listed(lines, root)
    messages = _blocks(lines, root)
    for name in messages:
        known = next(
            (n for n in outcomes if n == name or n.endswith(f" > {name}") or name.endswith(f" > {n}")), None
        )
        outcomes[known or name] = Outcome.FAILED
    results = []
    for name, outcome in outcomes.items():
        text = next(
            (
                t
                for n, t in messages.items()
                if n == name or name.endswith(f" > {n}") or n.endswith(f" > {name}")
            ),
            "",
        )
        results.append(TestResult(name, outcome, 0.0, text, script_frames(text, root) if outcome.bad else ()))
    return tuple(results)


def totals(lines: list[str]) -> tuple[int, int] | None:
    """(passed, failed) of the last lines, None where there are none."""
    counts: dict[str, int] = {}
    for line in lines[-400:]:
        for pattern in _TOTALS:
            found = pattern.match(line)
            for word, number in found.groupdict().items() if found else ():
                if number is not None:
                    counts[word] = int(number)
    return (counts.get("passed", 0), counts.get("failed", 0)) if counts else None


def _listed(lines: list[str], root: Path) -> dict[str, Outcome]:
    """Tests of the indented listing, by the groups that they stand in."""
    outcomes: dict[str, Outcome] = {}
    groups: list[tuple[int, str]] = []
    for line in lines:
        if re.match(
            r"\s*(?:✖ failing tests:|\d+ (?:passing|failing)|●|Summary of all|⎯+|Failed Tests)", line
        ):
            break
        if _VITEST.match(line):
            break
        if found := _FILE.match(line):
            groups = [(-1, relative(found[1], root))]
            continue
        leaf = _LEAF.match(line)
        numbered = None if leaf else _NUMBERED.match(line)
        if leaf or numbered:
            indent = len((leaf or numbered)[1])  # type: ignore[index]
            groups = [(depth, name) for depth, name in groups if depth < indent]
            title = relative(leaf[3], root) if leaf else numbered[2]  # type: ignore[index]
            name = " > ".join([*(group for _, group in groups), title])
            outcomes[name] = _outcome(leaf[2]) if leaf else Outcome.FAILED
        elif found := _GROUP.match(line):
            indent = len(found[1])
            groups = [(depth, name) for depth, name in groups if depth < indent]
            if (
                line.lstrip().startswith("▶")
                or (indent and groups)
                or (indent and line.lstrip()[0] not in "+-|>")
            ):
                groups.append((indent, found[2]))
    # a suite of node's listing is named again after its tests
    return {
        name: o
        for name, o in outcomes.items()
        if not any(other.startswith(f"{name} > ") for other in outcomes)
    }


def _outcome(sign: str) -> Outcome:
    return Outcome.PASSED if sign in _PASSED else Outcome.FAILED if sign in _FAILED else Outcome.SKIPPED


def _blocks(lines: list[str], root: Path) -> dict[str, str]:
    """Test → its failure at length."""
    found: dict[str, list[str]] = {}
    current: list[str] | None = None
    skip = False
    failing = False  # Mocha's list of failures has begun
    for index, line in enumerate(lines):
        failing = failing or re.match(r"\s+\d+ failing\b", line) is not None
        if skip:
            skip = False
            continue
        if jest := _JEST.match(line):
            current = found.setdefault(jest[1].replace(" › ", " > "), [])
        elif vitest := _VITEST.match(line):
            current = found.setdefault(vitest[1], [])
        elif _NODE.match(line) and index + 1 < len(lines) and (leaf := _LEAF.match(lines[index + 1])):
            current = found.setdefault(relative(leaf[3], root), [])
            skip = True
        elif failing and (mocha := _NUMBERED.match(line)):
            title = [mocha[2].rstrip(":")]
            for below in lines[index + 1 : index + 8]:
                if (title[-1] and mocha[2].endswith(":")) or not below.strip():
                    break
                title.append(below.strip().rstrip(":"))
                if below.rstrip().endswith(":"):
                    break
            current = found.setdefault(" > ".join(title), [])
        elif re.match(r"(?:Tests:|Test Suites:|\s*Test Files|ℹ tests)", line):
            current = None
        elif current is not None:
            current.append(line)
    return {name: "\n".join(text).strip() for name, text in found.items()}
