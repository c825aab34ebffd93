"""Measures `deskagent fix` on folders of cases: `bench/repair PATH… [--seconds 60] [--effort max]`.

Runs the installed command as a person would, headless, on a fresh copy of each case, and judges the outcome:

green       the tests pass, which is found out by running them here, not by believing the answer
right       the developer's change up to formatting
overfitted  green but not right
listed      not right, but the right edit is among the alternatives that were shown
broken      a promise was: not fixed and the tree is changed, "fixed" and the tests fail, no result event …
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import adapters
from formats import Case, files_under, find_cases
from judge import PatchDoesNotApply, apply_diff, right
from tests_of import TestsTimedOut, bad, environment, run_tests

Options = argparse.Namespace
LOOK = 120.0  # seconds for a run of a case's tests by this file itself
GRACE = 60.0  # seconds over its own limit after which the command is killed
_COUNTED = ("green", "right", "overfitted", "listed")
_GIT = ("git", "-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "commit.gpgsign=false")


@dataclass
class Row:
    """What happened to one case. `first_right` is the number of candidates up to the first right one."""

    name: str
    kind: str
    set: str
    exit: int | None = None
    status: str = ""
    green: bool = False
    right: bool = False
    listed: bool = False
    first_right: int | None = None
    candidates: int = 0
    seconds: float = 0.0
    operator: str = ""
    diff: str = ""
    alternatives: int = 0
    broken: list[str] = field(default_factory=list)

    @property
    def overfitted(self) -> bool:
        return self.green and not self.right


def lay_out(case: Case, folder: Path) -> None:
    """The buggy tree, committed unless the case wants a plain folder."""
    case.lay_out(folder)
    if case.git:
        for words in (["init", "-q"], ["add", "-Af"], ["commit", "-qm", "as it is", "--no-verify"]):
            subprocess.run([*_GIT, "-C", str(folder), *words], check=True, capture_output=True)


def tree_of(folder: Path) -> dict[str, bytes]:
    """Path → bytes of the files of a work tree, without git's own and what running tests leaves behind."""
    skip = (".git/", ".pytest_cache/", ".hypothesis/")
    return {path: data for path, data in files_under(folder).items() if not path.startswith(skip)}


def run_agent(
    case: Case, folder: Path, home: Path, options: argparse.Namespace
) -> tuple[int | None, str, str]:
    """Exit code (None: killed after its limit and GRACE), stdout and stderr of the command."""
    command = [*options.command, "fix", case.request, "--test", case.test, "--output-format", "json"]
    command += ["--effort", options.effort, "--max-seconds", str(options.seconds)]
    env = environment({"DESKAGENT_HOME": str(home)}, options.python)
    with (home / "stdout").open("wb+") as out, (home / "stderr").open("wb+") as err:
        child = subprocess.Popen(
            command,
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        code: int | None = None
        try:
            code = child.wait(options.seconds + GRACE)
        except subprocess.TimeoutExpired:
            pass
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    return code, *((home / name).read_text("utf-8", "replace") for name in ("stdout", "stderr"))


def last_event(stdout: str) -> dict | None:
    """The event of type `result`, which must be the last line."""
    lines = [line for line in stdout.splitlines() if line.strip()]
    try:
        event = json.loads(lines[-1]) if lines else None
    except ValueError:
        return None
    return event if isinstance(event, dict) and event.get("type") == "result" else None


def fails(case: Case, folder: Path, python: str) -> bool:
    """Whether the case's failing tests fail on `folder`, or hang, so that there is something to repair here."""
    try:
        return set(case.failing) <= bad(run_tests(folder, case.test, seconds=LOOK, python=python))
    except TestsTimedOut:
        return True


def passes(case: Case, folder: Path, after: dict[str, bytes], scratch: Path, python: str) -> bool:
    """Whether the case's tests pass on `folder`; what fails on the answer too is not held against it."""
    try:
        failed = bad(outcomes := run_tests(folder, case.test, seconds=LOOK, python=python))
        if not outcomes or any(test not in outcomes for test in case.failing):
            return False
        if failed:
            answered = scratch / "answered" / case.name
            lay_out(case, answered)
            for path, data in case.answers[0].items():
                (answered / path).write_bytes(data)
            failed -= bad(run_tests(answered, case.test, seconds=LOOK, python=python))
    except TestsTimedOut:
        return False
    return not failed and tree_of(folder) == after


def measure(case: Case, options: argparse.Namespace) -> Row:
    """Runs one case and judges it."""
    row = Row(case.name, case.kind, case.set)
    scratch = Path(tempfile.mkdtemp(prefix="bench-repair-"))
    try:
        folder, home = scratch / case.name, scratch / "home"
        home.mkdir()
        lay_out(case, folder)
        before = tree_of(folder)
        if case.failing and not fails(case, folder, options.python):
            row.status = "unusable"
            row.broken.append("its failing tests don't fail here: are the packages that they need installed?")
            return row
        start = time.monotonic()
        row.exit, stdout, stderr = run_agent(case, folder, home, options)
        row.seconds = round(time.monotonic() - start, 2)
        result = last_event(stdout)
        if result is None:
            row.broken.append(f"no result event; stderr ends in {stderr.strip()[-300:]!r}")
            row.status = "crashed" if row.exit is not None else "hangs"
            return row
        after = tree_of(folder)
        row.status, row.candidates = result["status"], result["candidates"]
        if result["exit_code"] != row.exit:
            row.broken.append(f"exit {row.exit}, the result says {result['exit_code']}")
        if row.status == "error":
            row.broken.append(str(result.get("error"))[:500])
        if row.status != "fixed":
            if after != before:
                row.broken.append("not fixed, yet the tree is changed")
            return row
        patch, others = result["patch"], result["alternatives"]
        row.operator, row.diff, row.alternatives = patch["operator"], patch["diff"], len(others)
        row.green = passes(case, folder, after, scratch, options.python)
        row.right = right(before, after, case.answers)
        if not row.green:
            row.broken.append("it says fixed, the tests fail")
        right_ones = [patch] if row.right else []
        for other in others:
            with contextlib.suppress(PatchDoesNotApply):
                if right(before, apply_diff(before, other["diff"]), case.answers):
                    right_ones.append(other)
        row.listed = bool(right_ones) and not row.right
        row.first_right = min((one["candidate_index"] for one in right_ones), default=None)
        return row
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _median(numbers: list[float]) -> str:
    return f"{statistics.median(numbers):.4g}" if numbers else "–"


def _mark(flag: bool) -> str:
    return "yes" if flag else "-"


def table(rows: list[Row]) -> str:
    """One line a case, then totals by kind and medians."""
    width = max(len(row.name) for row in rows)
    head = ("green", "right", "overfit", "listed", "first", "tried", "sec", "exit")
    lines = [f"{'case':<{width}} " + " ".join(f"{word:>7}" for word in head)]
    for row in rows:
        cells = [_mark(row.green), _mark(row.right), _mark(row.overfitted), _mark(row.listed)]
        cells += [str(row.first_right or "-"), str(row.candidates), f"{row.seconds:.1f}", str(row.exit)]
        lines.append(f"{row.name:<{width}} " + " ".join(f"{cell:>7}" for cell in cells))
        lines += [f"    BROKEN: {problem}" for problem in row.broken]
    lines.append("")
    kinds = sorted({row.kind for row in rows})
    groups = [(kind, [row for row in rows if row.kind == kind]) for kind in kinds]
    for word in ("tune", "held"):
        groups.append((f"set: {word}", [row for row in rows if row.set == word]))
    groups.append(("all", rows))
    lines.append(f"{'kind':<{width}} {'cases':>7} {'green':>7} {'right':>7} {'overfit':>7} {'listed':>7}")
    for name, group in groups:
        counts = [
            len(group),
            *(sum(getattr(r, key) for r in group) for key in ("green", "right", "overfitted", "listed")),
        ]
        lines.append(f"{name:<{width}} " + " ".join(f"{count:>7}" for count in counts))
    lines.append("")
    firsts = [float(row.first_right) for row in rows if row.first_right is not None]
    lines.append(f"median candidates to the first right patch: {_median(firsts)} (of {len(firsts)})")
    lines.append(
        f"median seconds: {_median([row.seconds for row in rows])}, of those that were right: "
        f"{_median([row.seconds for row in rows if row.right])}"
    )
    broken = sum(bool(row.broken) for row in rows)
    if broken:
        lines.append(f"broken promises: {broken}")
    return "\n".join(lines)


def gather(options: argparse.Namespace, scratch: Path) -> list[Case]:
    """The cases that the options name."""
    cases = find_cases(options.paths)
    if options.quixbugs:
        cases += adapters.quixbugs(options.quixbugs, scratch / "quixbugs")
    for file in options.real:
        for facts in adapters.read_real(file):
            cases.append(adapters.real(facts, options.mirror, scratch / "real" / file.stem))
    if options.set:
        cases = [case for case in cases if case.set == options.set]
    if options.only:
        cases = [case for case in cases if any(word in case.name for word in options.only)]
    if options.first:
        cases.sort(key=lambda case: hashlib.sha256(case.name.encode()).digest())
        cases = cases[: options.first]
    if options.part:
        number, of = map(int, options.part.split("/"))
        cases = cases[number - 1 :: of]
    return cases


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "paths", nargs="*", type=Path, metavar="PATH", help="folders of cases (see cases/README.md)"
    )
    parser.add_argument("--quixbugs", type=Path, metavar="DIR", help="an exported QuixBugs work tree")
    parser.add_argument(
        "--real", type=Path, action="append", default=[], metavar="FILE", help="facts of real fixes"
    )
    parser.add_argument("--mirror", type=Path, metavar="DIR", help="bare git directories for --real")
    parser.add_argument("--seconds", type=float, default=60.0, help="limit a case (default %(default)s)")
    parser.add_argument("--effort", default="max", choices=["auto", "low", "high", "max"])
    parser.add_argument(
        "--jobs", type=int, default=1, help="cases at a time; more than 1 makes seconds worse"
    )
    parser.add_argument("--set", choices=["tune", "held"], help="only this set")
    parser.add_argument(
        "--only", action="append", default=[], metavar="TEXT", help="only names that hold TEXT"
    )
    parser.add_argument(
        "--first", type=int, metavar="N", help="N of the cases, in the order of their names' SHA-256"
    )
    parser.add_argument("--python", default=sys.executable, help="interpreter that has the tests' packages")
    parser.add_argument("--part", metavar="N/M", help="every M-th case, beginning with the N-th")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write every row here")
    parser.add_argument("--show-diffs", action="store_true", help="print what overfits")
    parser.add_argument(
        "--command",
        nargs="+",
        default=[str(Path(sys.executable).parent / "deskagent")],
        help="the command measured",
    )
    options = parser.parse_args()
    if options.real and not options.mirror:
        parser.error("--real needs --mirror")
    with tempfile.TemporaryDirectory(prefix="bench-trees-") as scratch:
        cases = gather(options, Path(scratch))
        if not cases:
            parser.error("no cases: name a folder, --quixbugs or --real")
        rows = []
        with ThreadPoolExecutor(options.jobs) as pool:
            for row in pool.map(lambda case: measure(case, options), cases):
                rows.append(row)
                verdict = "right" if row.right else "overfitted" if row.green else row.status
                print(
                    f"{len(rows)}/{len(cases)} {row.name}: {verdict} {row.seconds:.1f} s",
                    file=sys.stderr,
                    flush=True,
                )
                if options.json:
                    facts = [asdict(one) | {"overfitted": one.overfitted} for one in rows]
                    options.json.write_text(json.dumps(facts, indent=1), "utf-8")
    print(table(rows))
    if options.show_diffs:
        for row in rows:
            if row.overfitted:
                print(f"\n{row.name} ({row.operator}, {row.alternatives} alternatives)\n{row.diff}")
    return 1 if any(row.broken for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
