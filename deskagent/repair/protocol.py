"""What is said to a warm worker and heard from it: jobs out, reports back, one JSON object a line.

What comes back was written by the project's own code as much as by the worker, so it is read with suspicion.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from deskagent.repair.types import Frame, Outcome, TestResult


@dataclass(frozen=True)
class Job:
    """One run of tests in a fresh process. Times in seconds, of the processor but for `seconds`.

    `ids` None runs everything; `stop` ends at the first bad result; `first` marks a look at the unedited tree
    (hangs are located, imports listed, bytecode may be written); `limit` holds for a test that `slow` doesn't
    name, `gather` for imports and collection; `memory` is what the process may take beyond the worker's own;
    `probe` is what worker/probe.py reads.
    """

    ids: tuple[str, ...] | None = None
    skip: tuple[str, ...] = ()
    stop: bool = False
    trace: bool = False
    first: bool = False
    limit: float = 5.0
    slow: Mapping[str, float] = field(default_factory=dict)
    gather: float = 30.0
    memory: int = 0
    seconds: float = 600.0
    probe: Mapping[str, Any] | None = None

    def line(self, number: int) -> bytes:
        """The job as the worker reads it; `number` comes back in the report's end."""
        return encode({"op": "run", "n": number, "bytecode": self.first} | asdict(self))


def encode(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"


@dataclass
class Report:
    """What one run told.

    `ended` it came to its own end (also at the first bad result); `why` the worker killed it ("timeout",
    "cancelled"); `broken` ids of what could not be imported or collected; `code` its exit status, negative for a
    signal; `current` the test that was running when it stopped; `gathered` seconds until the first test began;
    `peak` bytes taken beyond the worker's own; `probes` messages of worker/probe.py and worker/stated.py as they came.
    """

    results: dict[str, TestResult] = field(default_factory=dict)
    coverage: dict[str, dict[str, set[int]]] = field(default_factory=dict)
    modules: tuple[str, ...] = ()
    started: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)
    current: str = ""
    ended: bool = False
    exit: int = 0
    peak: int = 0
    why: str = ""
    code: int = 0
    output: str = ""
    gathered: float | None = None
    probes: list[dict[str, Any]] = field(default_factory=list)

    def take(self, line: bytes) -> None:
        """Adds what a test run said. A line that is no report of ours is passed over."""
        try:
            message = json.loads(line)
            _READERS[message["e"]](self, message)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return

    def finish(self, message: Mapping[str, Any]) -> None:
        """Adds what the worker said at the end."""
        self.why = message.get("why") or ""
        self.code = message.get("code", 0)
        self.output = message.get("output", "")

    def _start(self, message: Mapping[str, Any]) -> None:
        self.current = str(message["id"])
        self.started.add(self.current)

    def _result(self, message: Mapping[str, Any]) -> None:
        result = TestResult(
            str(message["id"]),
            Outcome(message["outcome"]),
            float(message["seconds"]),
            str(message["message"]),
            tuple(Frame(str(path), int(line), str(name)) for path, line, name in message["frames"]),
        )
        known = self.results.get(result.id)
        if known is None or not known.outcome.bad:  # of two tests with one name the bad one counts
            self.results[result.id] = result
        if message.get("broken"):
            self.broken.add(result.id)
        self.current = ""

    def _cover(self, message: Mapping[str, Any]) -> None:
        files = self.coverage.setdefault(str(message["id"]), {})
        for path, lines in message["files"].items():
            files.setdefault(path, set()).update(int(line) for line in lines)

    def _modules(self, message: Mapping[str, Any]) -> None:
        self.modules = tuple(str(name) for name in message["names"])

    def _probe(self, message: dict[str, Any]) -> None:
        self.probes.append(message)

    def _end(self, message: Mapping[str, Any]) -> None:
        self.ended = True
        self.exit = int(message["code"])
        self.peak = max(0, int(message["peak"]))


_READERS = {
    "start": Report._start,
    "result": Report._result,
    "cover": Report._cover,
    "modules": Report._modules,
    "entry": Report._probe,
    "probe": Report._probe,
    "stated": Report._probe,
    "end": Report._end,
}
