"""What green patches do on the inputs that tests hand to the edited functions, and on neighbours of these.

Each patch runs a few tests once more in a warm worker, with a probe beside them (worker/probe.py).
"""

from __future__ import annotations

import ast
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from deskagent.errors import DeskagentError
from deskagent.repair.choose.callers import modules
from deskagent.repair.choose.returns import uses
from deskagent.repair.choose.stated import Statement, Told, collect, sites, told
from deskagent.repair.choose.targets import Target, at_line, functions, lines_of, parse, touched
from deskagent.repair.protocol import Report
from deskagent.repair.search import Trial
from deskagent.repair.types import Baseline, Outcome
from deskagent.repair.verify import Verifier

_log = logging.getLogger(__name__)
_RIVALS = 12  # patches that are looked at
_TARGETS = 8
_FAILING, _PASSING = 6, 10  # tests that are run
_SLOW = 1.0  # seconds: a slower passing test is left out
_CALLS, _TRIES, _CPU = 10, 24, 0.2
Read = Callable[[str], bytes]


@dataclass(frozen=True)
class Try:
    """One call and how it ended. `new` the input is made up, else a test or the code has it. `kind`: "returns",
    "raises", "hangs", "dies", "slow" or "refused" (nothing can be said). `after` are the arguments as the call
    left them."""

    target: Target
    text: str
    new: bool
    kind: str
    out: str
    after: str
    type: str
    test: str

    @property
    def sure(self) -> bool:
        return self.kind not in ("slow", "refused")

    @property
    def effect(self) -> tuple[str, str, str]:
        """What is compared."""
        return self.kind, self.out, self.after


Key = tuple[Target, str]
Observed = Mapping[Key, Try]


@dataclass(frozen=True)
class Behaviour:
    """Calls and their ends, by patch number; 0 is the unedited tree. `entries` are the functions that tests call.

    `told` has, by patch and text, what became of what the project states of its functions; `annotated` their return
    annotations, `uses` what callers do with what they return (see returns.uses).
    """

    observed: Mapping[int, Observed] = field(default_factory=dict)
    entries: frozenset[Target] = frozenset()
    edited: frozenset[Target] = frozenset()
    told: Mapping[int, Mapping[str, Told]] = field(default_factory=dict)
    annotated: Mapping[Target, ast.expr] = field(default_factory=dict)
    uses: Mapping[Target, frozenset[str]] = field(default_factory=dict)

    def shared(self, numbers: Sequence[int]) -> list[Key]:
        """Inputs that all of the patches `numbers` met and that say something of each, in the order met."""
        maps = [self.observed[n] for n in numbers if n in self.observed]
        if not maps:
            return []
        return [key for key in maps[0] if all(key in m and m[key].sure for m in maps)]


def watch(
    verifier: Verifier, baseline: Baseline, read: Read, green: Sequence[Trial], *, seconds: float
) -> Behaviour:
    """The behaviour of the first patches of `green`, found within about `seconds`; empty where no worker runs.

    `read` gives a project-relative file's unedited bytes. Nothing is made up outside a sandbox.
    """
    if not verifier.warm or not green:
        return Behaviour()
    deadline = time.monotonic() + seconds
    try:
        return _Watch(verifier, baseline, read, green[:_RIVALS], deadline).run()
    except (DeskagentError, TimeoutError) as error:  # the patches are green all the same
        _log.info("patches are not compared by what they do: %s", error)
        return Behaviour()


@dataclass
class _Watch:
    verifier: Verifier
    baseline: Baseline
    read: Read
    green: Sequence[Trial]
    deadline: float
    statements: Sequence[Statement] = ()

    @property
    def left(self) -> float:
        return max(0.0, self.deadline - time.monotonic())

    def run(self) -> Behaviour:
        edited = self._edited()
        if not edited:
            return Behaviour()
        tests = self._tests(edited)
        entries = self._entries(edited, tests)
        targets = [*dict.fromkeys((*entries, *edited))][:_TARGETS]
        around = modules(self.verifier.project, self.read, self.baseline, tests, targets)
        calls = sites(around, {target.short for target in targets})
        if self.verifier.confined:
            self.statements = collect(targets, self.read, calls)
        share = max(0.2, min(4.0, self.left / (len(self.green) + 2) * 2))
        runs = {number: self._start(files, targets, tests, share) for number, files in self._versions()}
        observed: dict[int, Observed] = {}
        stated: dict[int, Mapping[str, Told]] = {}
        for number, future in runs.items():
            report = self._finish(future)
            if report is not None:
                observed[number] = self._calls(report, targets)
                stated[number] = {one.text: one for _, one in self._told(report)}
        again = stated.pop(-1, {})
        loose = {t for t, one in stated.get(0, {}).items() if t in again and again[t].out != one.out}
        twice = observed.pop(-1, None)
        if 0 not in observed:
            return Behaviour()
        plain = observed[0]
        unsteady = {k for k, t in plain.items() if twice and k in twice and twice[k].effect != t.effect}
        observed = {n: {k: t for k, t in m.items() if k not in unsteady} for n, m in observed.items()}
        return Behaviour(
            observed,
            frozenset(entries),
            frozenset(edited),
            {n: {t: one for t, one in m.items() if t not in loose} for n, m in stated.items()},
            self._annotated(targets),
            {target: uses(calls[target.short]) for target in targets},
        )

    def _versions(self) -> list[tuple[int, Mapping[str, bytes]]]:
        """Number → edited files: the unedited tree first and, since not every code does the same twice, last."""
        return [(0, {}), *((trial.number, trial.files) for trial in self.green), (-1, {})]

    def _edited(self) -> list[Target]:
        found: dict[Target, None] = {}
        for trial in self.green:
            for path, after in trial.files.items():
                if path.endswith(".py"):
                    found.update(dict.fromkeys(touched(path, self.read(path), after)[:_TARGETS]))
        return list(found)[:_TARGETS]

    def _tests(self, edited: Sequence[Target]) -> list[str]:
        """Failing tests and quick passing ones that run an edited function."""
        spans: dict[str, set[int]] = {}
        for target in edited:
            tree = parse(self.read(target.path))
            for name, node in functions(tree) if tree else ():
                if name == target.name:
                    spans.setdefault(target.path, set()).update(
                        range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1)
                    )

        def meets(test: str) -> bool:
            files = self.baseline.coverage.get(test, {})
            return any(not lines.isdisjoint(files.get(path, ())) for path, lines in spans.items())

        usable = [r for r in self.baseline.results if r.id not in self.verifier.flaky]
        failing = [r.id for r in usable if r.outcome is Outcome.FAILED or r.outcome is Outcome.ERROR]
        passing = [r for r in usable if r.outcome is Outcome.PASSED and r.seconds < _SLOW and meets(r.id)]
        step = max(1, len(passing) // _PASSING)  # from all over, not the first ones alone
        return [*failing[:_FAILING], *(r.id for r in passing[::step][:_PASSING])]

    def _entries(self, edited: Sequence[Target], tests: Sequence[str]) -> list[Target]:
        """The functions by which tests come to the edited ones, in their order."""
        probe = {"scout": True, "calls": 0, "tries": 0, "seconds": 1.0, "cpu": _CPU}
        report = self._run({}, edited, tests, probe).result(self.left)
        found: dict[Target, None] = {}
        for message in report.probes:
            try:
                path, line, short = map(str, message["at"])
                name = at_line(self.read(path), int(line), short)
            except (KeyError, ValueError, TypeError, DeskagentError):  # not written by the probe
                continue
            if name is not None:
                found[Target(path, name)] = None
        return list(found)

    def _start(
        self, files: Mapping[str, bytes], targets: Sequence[Target], tests: Sequence[str], seconds: float
    ) -> Future[Report]:
        tries = _TRIES if self.verifier.confined else 0
        probe = {"scout": False, "calls": _CALLS, "tries": tries, "seconds": seconds, "cpu": _CPU}
        probe["stated"] = [statement.message() for statement in self.statements]
        return self._run(files, targets, tests, probe)

    def _run(
        self,
        files: Mapping[str, bytes],
        targets: Sequence[Target],
        tests: Sequence[str],
        probe: dict[str, object],
    ) -> Future[Report]:
        places = [self._place(target, files) for target in targets]
        return self.verifier.observe(files, tests, {**probe, "targets": places})

    def _place(self, target: Target, files: Mapping[str, bytes]) -> tuple[str, int]:
        code = files.get(target.path) or self.read(target.path)
        return target.path, lines_of(code).get(target.name, -1)

    def _finish(self, future: Future[Report]) -> Report | None:
        """What a run saw; None if it did not come to an end in time."""
        try:
            return future.result(self.left)
        except (TimeoutError, DeskagentError):
            future.cancel()
            return None

    def _calls(self, report: Report, targets: Sequence[Target]) -> Observed:
        found: dict[Key, Try] = {}
        for made in (*_tries(report, targets), *(made for made, _ in self._told(report) if made is not None)):
            known = found.get((made.target, made.text))
            if known is None or (known.new and not made.new):  # a test's own call says more
                found[made.target, made.text] = made
        return found

    def _told(self, report: Report) -> Iterator[tuple[Try | None, Told]]:
        """What became of the statements; those that are calls, as calls too."""
        for message in report.probes:
            try:
                if message["e"] != "stated":
                    continue
                for one in told(self.statements, message):
                    made = None
                    if one.kind == "call":
                        target = self.statements[message["i"]].target
                        made = Try(target, one.text, False, message["kind"], one.out, "", message["type"], "")
                    yield made, one
            except (KeyError, IndexError, TypeError, ValueError):  # not written by the probe
                continue

    def _annotated(self, targets: Sequence[Target]) -> Mapping[Target, ast.expr]:
        found: dict[Target, ast.expr] = {}
        for path in {target.path for target in targets}:
            tree = parse(self.read(path))
            known = dict(functions(tree)) if tree else {}
            for target in targets:
                if target.path == path and target.name in known and (gives := known[target.name].returns):
                    found[target] = gives
        return found


def _tries(report: Report, targets: Sequence[Target]) -> Iterator[Try]:
    """What the probe told. The project's code could have written there too: what is no report is passed over."""
    for message in report.probes:
        try:
            if message["e"] == "probe":
                target, test = targets[message["t"]], str(message["id"])
                for one in message["tries"]:
                    words = {name: str(one[name]) for name in ("kind", "out", "after", "type")}
                    yield Try(target=target, text=str(one["in"]), new=bool(one["new"]), test=test, **words)
        except (KeyError, IndexError, TypeError):
            continue
