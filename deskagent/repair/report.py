"""Reads what test runners print: which tests failed, with which message, through which lines.

For runs of the exact command, where the printed text is all there is. What can't be read is left out. Here are pytest
and unittest; other languages' runners are in `printed`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from deskagent.repair.printed import formats, scripts
from deskagent.repair.types import Frame, Outcome, TestResult

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_SUMMARY = re.compile(r"^(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS|SUBFAILED\S*) (.+)$")
_VERBOSE = re.compile(r"^(\S+?::.+?) (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b")
_OUTCOMES = {
    "PASSED": Outcome.PASSED,
    "FAILED": Outcome.FAILED,
    "ERROR": Outcome.ERROR,
    "SKIPPED": Outcome.SKIPPED,
    "XFAIL": Outcome.SKIPPED,
    "XPASS": Outcome.SKIPPED,
}
_SECTION = re.compile(r"^=+ (FAILURES|ERRORS|.+?) =+$")
_BLOCK = re.compile(r"^_{3,} (.+?) _{3,}$")
_PLACE = re.compile(r"^(\S[^:\n]*?):(\d+): ?(?:in (\S+))?")
_DEF = re.compile(r"^[ >]\s+(?:async )?def (\w+)")
_COUNTS = re.compile(r"(\d+) (passed|failed|errors?|skipped|xfailed|xpassed)\b")
_TOTALS = re.compile(r"^(?:=+ )?((?:\d+ [a-z]+,? ?)+) in \d")
_UNIT_BLOCK = re.compile(r"^(FAIL|ERROR|UNEXPECTED SUCCESS): (\S+)(?: \((\S+)\))?")
_UNIT_VERBOSE = re.compile(r"^(\S+) \((\S+)\).*\.\.\. (ok|FAIL|ERROR|skipped|expected failure)")
_UNIT_RAN = re.compile(r"^Ran (\d+) tests? in")
_TRACE = re.compile(r'^  File "(.+?)", line (\d+)(?:, in (.+))?$')
_NOT_LOADED = "unittest.loader._FailedTest."


@dataclass(frozen=True)
class Printed:
    """What was read. `results` holds the failures, and others where they were printed; `passed` and `failed` are
    the totals of the last line (errors among the failed), None where there was none."""

    results: tuple[TestResult, ...] = ()
    passed: int | None = None
    failed: int | None = None

    @property
    def failing(self) -> tuple[TestResult, ...]:
        return tuple(r for r in self.results if r.outcome.bad)


def parse(text: str, root: Path) -> Printed:
    """What `text` tells, printed by a test runner. Paths below `root` become relative to it."""
    lines = [line.rstrip("\r") for line in _ANSI.sub("", text).split("\n")]
    if any(_UNIT_RAN.match(line) for line in lines[-200:]) and not any(
        _TOTALS.match(line) for line in lines[-50:]
    ):
        return _unittest(lines, root)
    printed = _pytest(lines, root)
    if printed.results or printed.passed is not None:
        return printed
    return _others(lines, root) or printed


def _others(lines: list[str], root: Path) -> Printed | None:
    results = formats.read(lines, root)
    if results is None:
        return None
    told = scripts.totals(lines) or (0, 0)
    passed = sum(r.outcome is Outcome.PASSED for r in results)
    failed = sum(r.outcome.bad for r in results)
    return Printed(results, max(passed, told[0]), max(failed, told[1]))


def _pytest(lines: list[str], root: Path) -> Printed:
    outcomes: dict[str, Outcome] = {}
    blocks = dict(_blocks(lines))
    for line in lines:
        if found := _SUMMARY.match(line):
            name = _id_in(found[2], blocks)
            word = "FAILED" if found[1].startswith("SUBFAILED") else found[1]
            if not name.startswith("["):  # SKIPPED lines begin with a count
                outcomes[name] = _worse(outcomes.get(name), _OUTCOMES[word])
        elif found := _VERBOSE.match(line):
            outcomes[found[1]] = _worse(outcomes.get(found[1]), _OUTCOMES[found[2]])
    if not any(o.bad for o in outcomes.values()):
        outcomes |= {
            name.removeprefix("collecting "): Outcome.ERROR for name in blocks if "collecting" in name
        }
    if trouble := _conftest_trouble(lines):
        outcomes[""] = Outcome.ERROR
        blocks[""] = trouble
    results = []
    for name, outcome in outcomes.items():
        block = _block_of(name, blocks) if outcome.bad else []
        results.append(TestResult(name, outcome, 0.0, "\n".join(block).strip(), _frames(block, root)))
    return Printed(tuple(results), *_totals(lines))


def _worse(known: Outcome | None, new: Outcome) -> Outcome:
    return known if known is not None and known.bad else new


def _id_in(rest: str, titles: Collection[str]) -> str:
    """The id at the start of `id - message`. Parameters may hold ` - ` themselves: the longest id that has a title
    is meant, else the first that can be."""
    cuts = [found.start() for found in re.finditer(" - ", rest)] + [len(rest)]
    opening = rest.find("[")
    if 0 <= opening < cuts[0]:
        cuts = [cut for cut in cuts if rest[cut - 1] == "]"] or [len(rest)]
    shown = [rest[:cut] for cut in cuts[:50] if _title(rest[:cut]) in titles]
    return shown[-1] if shown else rest[: cuts[0]]


def _title(name: str) -> str:
    """What stands over the failure of the test with this id."""
    test, bracket, parameters = name.partition("::")[2].partition("[")
    return test.replace("::", ".") + bracket + parameters


def _blocks(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """(title, lines) of each failure that is shown at length."""
    inside, title, block = False, None, []
    for line in lines:
        if found := _SECTION.match(line):
            if title is not None:
                yield title, block
            inside, title, block = found[1] in ("FAILURES", "ERRORS"), None, []
        elif inside and (found := _BLOCK.match(line)):
            if title is not None:
                yield title, block
            title, block = found[1].removeprefix("ERROR "), []
        else:
            block.append(line)
    if title is not None:
        yield title, block


def _block_of(name: str, blocks: dict[str, list[str]]) -> list[str]:
    title = _title(name)
    last = title.rpartition(".")[2] if "[" not in title else title
    for shown in (title, f"at setup of {last}", f"at setup of {title}", f"at teardown of {last}",
                  f"at teardown of {title}", f"collecting {name.partition('::')[0]}", name):  # fmt: skip
        if shown in blocks:
            return blocks[shown]
    return []


def _conftest_trouble(lines: list[str]) -> list[str]:
    for number, line in enumerate(lines):
        if line.startswith(("ImportError while loading conftest", "ERROR: usage:", "INTERNALERROR>")):
            return lines[number : number + 60]
    return []


def _frames(block: list[str], root: Path) -> tuple[Frame, ...]:
    """Places in the order of the listing, from the first of the project on; the function is that of the last `def`
    shown before."""
    frames, function = [], ""
    for line in block:
        if found := _DEF.match(line):
            function = found[1]
        elif found := _TRACE.match(line):
            frames.append(Frame(_relative(found[1], root), int(found[2]), found[3] or "<module>"))
        elif (found := _PLACE.match(line)) and found[1].endswith(".py"):
            frames.append(Frame(_relative(found[1], root), int(found[2]), found[3] or function))
            function = ""
    first = next((i for i, frame in enumerate(frames) if not frame.path.startswith("/")), 0)
    return tuple(frames[first:])


def _relative(path: str, root: Path) -> str:
    pure = PurePosixPath(path)
    return str(pure.relative_to(root)) if pure.is_relative_to(root) else path


def _totals(lines: list[str]) -> tuple[int | None, int | None]:
    for line in reversed(lines[-200:]):
        if found := _TOTALS.match(line):
            counts = {word.rstrip("s"): int(number) for number, word in _COUNTS.findall(found[1])}
            return counts.get("passed", 0), counts.get("failed", 0) + counts.get("error", 0)
    return None, None


def _unittest(lines: list[str], root: Path) -> Printed:
    outcomes: dict[str, Outcome] = {}
    messages: dict[str, list[str]] = {}
    current: list[str] | None = None
    total = 0
    for before, line in zip(["", *lines], lines, strict=False):
        if before.startswith("=====") and (found := _UNIT_BLOCK.match(line)):
            name = _unittest_id(found[2], found[3])
            outcomes[name] = Outcome.ERROR if found[1] == "ERROR" else Outcome.FAILED
            current = messages.setdefault(name, [])
        elif found := _UNIT_VERBOSE.match(line):
            word = {"ok": Outcome.PASSED, "FAIL": Outcome.FAILED, "ERROR": Outcome.ERROR}.get(found[3])
            name = _unittest_id(found[1], found[2])
            outcomes[name] = _worse(outcomes.get(name), word or Outcome.SKIPPED)
        elif found := _UNIT_RAN.match(line):
            total, current = int(found[1]), None
        elif current is not None and not line.startswith(("=====", "-----")):
            current.append(line)
    results = tuple(
        TestResult(
            name,
            outcome,
            0.0,
            "\n".join(messages.get(name, ())).strip(),
            _frames(messages.get(name, []), root),
        )
        for name, outcome in outcomes.items()
    )
    failed = sum(1 for r in results if r.outcome.bad)
    skipped = sum(
        int(n) for line in lines[-5:] for n in re.findall(r"(?:skipped|expected failures)=(\d+)", line)
    )
    return Printed(results, max(0, total - failed - skipped), failed)


def _unittest_id(method: str, holder: str | None) -> str:
    """`test_b (pkg.T)`, `test_b (pkg.T.test_b)` since 3.11, `setUpClass (pkg.T)`, a module that didn't load."""
    if holder is None:
        return method
    if holder.startswith(_NOT_LOADED):
        return holder.removeprefix(_NOT_LOADED)
    if holder == _NOT_LOADED.rstrip("."):
        return method
    if method in ("setUpClass", "tearDownClass", "setUpModule", "tearDownModule"):
        return holder
    return holder if holder.endswith(f".{method}") else f"{holder}.{method}"
