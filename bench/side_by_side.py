"""Writes the patches of a measured run beside the developers' own.

    bench/side_by_side.py --real FILE --mirror DIR [--note NOTES] ROWS.json… > docs/repair-cases.md

ROWS are what `bench/repair --json` wrote for cases of the same FILE. Prints Markdown: a table of outcomes, then each
case with a patch, its changed lines and the developer's one after the other. `--note FILE` is TOML of a case's name →
words of somebody who has read both; a case whose words begin with "equal" counts as right by reading.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import adapters
from formats import Case

from deskagent.repair.diff import readable


def outcome(row: dict, note: str) -> str:
    """In a word, what became of a case."""
    if row["right"]:
        return "right"
    if row["green"]:
        read = "right by reading" if note.startswith("equal") else "overfitted"
        return f"{read}, the developer's listed" if row["listed"] else read
    return {"limit": "no patch in time", "not_fixed": "no patch"}.get(row["status"], row["status"])


def changed(diff: str) -> str:
    """The changed lines of a diff, with their files and places."""
    keep = [line for line in diff.splitlines() if line[:1] in "+-@" and not line.startswith(("--- ", "+++ "))]
    paths = [line.removeprefix("+++ b/") for line in diff.splitlines() if line.startswith("+++ b/")]
    return "\n".join([*paths, *keep])


def developers(case: Case) -> str:
    """The developer's diff of the source."""
    tree = case.trees[-1]
    return readable(
        {path: ((tree / path).read_bytes(), after) for path, after in case.answers[0].items()}, context=0
    )


def page(rows: list[dict], cases: dict[str, Case], notes: dict[str, str]) -> Iterator[str]:
    """The Markdown, line by line."""
    words = {row["name"]: outcome(row, notes.get(row["name"], "")) for row in rows}
    yield "| case | kind | outcome | candidates | seconds |"
    yield "|---|---|---|---|---|"
    for row in rows:
        yield (
            f"| {row['name']} | {row['kind']} | {words[row['name']]} | {row['candidates']} | {row['seconds']:.0f} |"
        )
    for row in rows:
        yield f"\n### {row['name']}: {words[row['name']]}\n"
        if note := notes.get(row["name"]):
            yield f"{note}\n"
        for title, text in (("deskagent", row["diff"]), ("developer", developers(cases[row["name"]]))):
            if text:
                yield f"{title}\n```diff\n{changed(text)}\n```"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows", nargs="+", type=Path)
    parser.add_argument("--real", type=Path, required=True)
    parser.add_argument("--mirror", type=Path, required=True)
    parser.add_argument("--note", type=Path)
    options = parser.parse_args()
    rows = [row for path in options.rows for row in json.loads(path.read_text())]
    notes = tomllib.loads(options.note.read_text()) if options.note else {}
    wanted = {row["name"] for row in rows}
    with tempfile.TemporaryDirectory(prefix="bench-side-") as scratch:
        cases = {
            facts["name"]: adapters.real(facts, options.mirror, Path(scratch))
            for facts in adapters.read_real(options.real)
            if facts["name"] in wanted
        }
        print("\n".join(page(rows, cases, notes)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
