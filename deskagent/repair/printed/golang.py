"""What `go test` prints, plainly, with -v and with -json."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path

from deskagent.repair.printed.places import relative
from deskagent.repair.types import Frame, Outcome, TestResult

_RESULT = re.compile(r"^(\s*)--- (FAIL|PASS|SKIP): (\S+) \(([\d.]+)s\)")
_RUNS = re.compile(r"^=== (?:RUN|CONT|NAME)\s+(\S+)$")
_PACKAGE = re.compile(r"^(ok|FAIL|\?)\s+(\S+)\s+(?:([\d.]+)s|\[(.+)\]|\(cached\))?")
_BUILD = re.compile(r"^# (\S+)(?: \[(\S+?)(?:\.test)?\])?$")
_OUTCOMES = {"FAIL": Outcome.FAILED, "PASS": Outcome.PASSED, "SKIP": Outcome.SKIPPED}
_FUNCTION = re.compile(r"^([\w./*()\[\]-]+?)\((?:.*)\)$")
_TRACED = re.compile(r"^\t(\S+\.go):(\d+)(?: \+0x[0-9a-f]+)?$")
_COMPILED = re.compile(r"^(?:vet: )?(\S+\.go):(\d+)(?::\d+)?: ")


def read(lines: list[str], root: Path) -> tuple[TestResult, ...] | None:
    """The results, None where `go test` didn't print the lines. A test's id is `package.TestName/case`; a package
    that didn't build or crashed outside of its tests stands for all of them."""
    events = _events(lines)
    plain = [line for chunk in (_texts(events) if events else [("", lines)]) for line in chunk[1]]
    if not any(_PACKAGE.match(line) or _RESULT.match(line) for line in plain):
        return None
    results: dict[str, TestResult] = {}
    outcomes: dict[str, tuple[Outcome, float]] = {}
    texts: dict[str, list[str]] = defaultdict(list)
    build: dict[str, list[str]] = defaultdict(list)
    block: list[str] = []
    for line in plain:
        if found := _RUNS.match(line):
            block = texts[found[1]]
        elif found := _RESULT.match(line):
            outcomes[found[3]] = (_OUTCOMES[found[2]], float(found[4]))
            block = texts[found[3]]
        elif found := _BUILD.match(line):
            block = build[found[2] or found[1]]
        elif found := _PACKAGE.match(line):
            _close(results, outcomes, texts, found, build, root)
            outcomes, texts, block = {}, defaultdict(list), []
        elif not line.startswith(("FAIL", "PASS", "exit status")):
            block.append(line)
            if block is not texts[""] and not outcomes:
                texts[""].append(line)
    for name, (outcome, seconds) in outcomes.items():
        results.setdefault(name, _made(name, outcome, seconds, texts[name], root))
    return tuple(results.values())


def _close(
    results: dict[str, TestResult],
    outcomes: dict[str, tuple[Outcome, float]],
    texts: dict[str, list[str]],
    found: re.Match[str],
    build: dict[str, list[str]],
    root: Path,
) -> None:
    """Takes down the tests of the package whose last line `found` is."""
    package = found[2]
    for name, (outcome, seconds) in outcomes.items():
        inner = [o for other, (o, _) in outcomes.items() if other.startswith(f"{name}/")]
        if not inner or (outcome.bad and not any(o.bad for o in inner)):  # else its cases speak for it
            results[f"{package}.{name}"] = _made(f"{package}.{name}", outcome, seconds, texts[name], root)
    stopped = [name for name in texts if name and name not in outcomes] if found[1] == "FAIL" else []
    for name in stopped:  # it ran, and never came to its end
        if not any(other.startswith(f"{name}/") for other in stopped):
            results[f"{package}.{name}"] = _made(f"{package}.{name}", Outcome.ERROR, 0.0, texts[name], root)
    if found[1] == "FAIL" and not stopped and not any(outcome.bad for outcome, _ in outcomes.values()):
        text = build.get(package) or build.get(f"{package}_test") or texts[""]
        text = text or [line for lines in build.values() for line in lines]
        outcome = Outcome.TIMEOUT if any("panic: test timed out" in line for line in text) else Outcome.ERROR
        results[package] = _made(package, outcome, 0.0, text, root)


def _made(name: str, outcome: Outcome, seconds: float, text: list[str], root: Path) -> TestResult:
    if not outcome.bad:
        return TestResult(name, outcome, seconds)
    message = "\n".join(text).strip()
    if "panic: test timed out" in message:
        outcome = Outcome.TIMEOUT
    return TestResult(name, outcome, seconds, message, _frames(text, root))


def _frames(lines: list[str], root: Path) -> tuple[Frame, ...]:
    """Frames of the panic, outermost first; else the compiler's places."""
    frames: list[Frame] = []
    function = ""
    for line in lines:
        if found := _TRACED.match(line):
            path = relative(found[1], root)
            if not path.startswith(("/", "_testmain.go")):
                frames.append(Frame(path, int(found[2]), function.rpartition(".")[2]))
        elif found := _COMPILED.match(line):
            frames.append(Frame(relative(found[1], root), int(found[2]), ""))
        elif found := _FUNCTION.match(line):
            function = found[1]
        elif frames and line.startswith(("created by ", "goroutine ")):
            break
    return tuple(reversed(frames))


def _events(lines: list[str]) -> list[dict]:
    events = []
    for line in lines:
        if line.startswith("{") and '"Action"' in line:
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if isinstance(event, dict):
                events.append(event)
        elif line and not line.startswith("{"):
            events.append({"Action": "output", "Package": "", "Output": f"{line}\n"})
    return (
        events
        if any("Time" in event or "Package" in event for event in events if event.get("Package"))
        else []
    )


def _texts(events: list[dict]) -> list[tuple[str, list[str]]]:
    """Each package's output as it would be printed with -v, one package after the other."""
    texts: dict[str, list[str]] = {}
    for event in events:
        if event.get("Action") in ("output", "build-output"):
            texts.setdefault(str(event.get("Package") or event.get("ImportPath") or ""), []).append(
                str(event.get("Output", ""))
            )
    return [(package, "".join(pieces).splitlines()) for package, pieces in texts.items()]
