"""Proves that the cases are sound: `python bench/cases/check.py [NAME…] [--folder bench/cases-go] [--write]`.

For each case the tests that case.json names fail on buggy/ and pass on every fixed*/, every other test passes
on both, the fix changes at most six lines, the request holds none of the fixed lines, and the set is the one
that the name's hash gives. `--write` puts the failing tests that were found into case.json.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from formats import Case, load_case, set_of
from tests_of import TestsTimedOut, bad, run_tests

CASES = Path(__file__).resolve().parent
MOST_LINES = 6


def changed_lines(before: bytes, after: bytes) -> list[str]:
    """Lines that a line diff adds or removes, with their sign; a replaced line counts on both sides."""
    old, new = (data.decode("latin-1").splitlines() for data in (before, after))
    lines = list(difflib.unified_diff(old, new, lineterm="", n=0))[2:]
    return [line for line in lines if line[:1] in "+-"]


def problems(case: Case, folder: Path, *, write: bool = False) -> list[str]:
    """What is wrong with the case in `folder`, as sentences."""
    found = []
    if case.set != set_of(case.name) or case.name != folder.name:
        found.append(f"name or set: the set of {case.name} is {set_of(case.name)}")
    for answer in case.answers:
        lines = [line for path, after in answer.items() for line in changed_lines(case.before(path), after)]
        size = max(sum(line[0] == sign for line in lines) for sign in "+-")
        if not 0 < size <= MOST_LINES:
            found.append(f"the fix changes {size} lines")
        for line in lines:
            text = line[1:].strip()
            if len(text) > 5 and text in case.request:
                found.append(f"the request gives the answer away: {text}")
    with tempfile.TemporaryDirectory(prefix="bench-check-") as scratch:
        runs = []
        for number, answer in enumerate([{}, *case.answers]):
            tree = Path(scratch) / str(number) / case.name
            case.lay_out(tree)
            for path, data in answer.items():
                (tree / path).write_bytes(data)
            try:
                runs.append(run_tests(tree, case.test, seconds=60))
            except TestsTimedOut as error:
                return [*found, str(error)]
    failing = bad(runs[0])
    if write and failing:
        meta = json.loads((folder / "case.json").read_text("utf-8"))
        meta["failing"] = sorted(failing)
        (folder / "case.json").write_text(json.dumps(meta, indent=1, ensure_ascii=False) + "\n", "utf-8")
    elif failing != set(case.failing):
        found.append(f"fail on the buggy tree: {sorted(failing)}, named: {sorted(case.failing)}")
    if not failing:
        found.append("nothing fails on the buggy tree")
    if len(runs[0]) - len(failing) < 2:
        found.append("fewer than two tests pass on the buggy tree")
    for number, run in enumerate(runs[1:], 1):
        if bad(run):
            found.append(f"fail on answer {number}: {sorted(bad(run))}")
        if run.keys() != runs[0].keys():
            found.append(f"other tests on answer {number}: {sorted(run.keys() ^ runs[0].keys())}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="cases to check; all if none is named")
    parser.add_argument("--write", action="store_true", help="write the failing tests into case.json")
    parser.add_argument(
        "--folder", type=Path, default=CASES, help="where the cases lie (default: beside this)"
    )
    options = parser.parse_args()
    folders = sorted(file.parent for file in options.folder.glob("*/case.json"))
    if options.names:
        folders = [folder for folder in folders if folder.name in options.names]
    if not folders:
        parser.error("no such case")
    with ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        results = pool.map(lambda folder: problems(load_case(folder), folder, write=options.write), folders)
        broken = 0
        for folder, found in zip(folders, results, strict=True):
            broken += bool(found)
            for sentence in found:
                print(f"{folder.name}: {sentence}")
    print(f"{len(folders)} cases, {broken} unsound")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
