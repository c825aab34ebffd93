"""Mends of edits-train.xz or edits-held.xz in the files that they were made in, and choices made of them.

    bench/mends.py MENDS LOCK WHEELS --fixes FILE
    bench/mends.py MENDS LOCK WHEELS --choices OUT --made FILE

LOCK names the releases, which are fetched into the folder WHEELS. `--fixes` writes whole files before and after, as
`bench/reach.py` reads them. `--choices` makes the repair's own typed edits of what it would ask a model about, for
mends that are among them, and writes MENDS with these as OUT; no test is run. FILE has a line for each mend that was
looked at, and the same command goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from groups import among

if TYPE_CHECKING:
    from engine.train.edits.record import Mend

LARGEST = 80_000
"""Letters of a file: reading the tree of a longer one takes most of the time."""
APART = frozenset(
    ["attrs", "bottle", "cattrs", "funcy", "jsonpath-ng", "pyflakes", "python-dotenv", "tinydb", "tomlkit", "w3lib"]
)  # fmt: skip
"""Projects that the repair is measured on: nothing is tuned or taught by what was mended there."""


@dataclass(frozen=True)
class Placed:
    """A mend in its file. start: where what is shown begins, in letters. number: among all mends."""

    number: int
    mend: Mend
    text: str
    start: int

    @property
    def after(self) -> str:
        from engine.prompt.edits import apply

        shown = self.mend.shown
        return (
            self.text[: self.start]
            + apply(self.mend.edits, shown)
            + self.text[self.start + len(shown) :]
        )  # fmt: skip


def placed(mends: Iterable[Mend], wheels: Mapping[str, Mapping[str, Path]]) -> Iterator[Placed]:
    """Those that the files of a release hold, once; of the newest such release. wheels: package → version → file, the
    oldest first."""
    by_package: dict[str, list[tuple[int, Mend]]] = {}
    for number, mend in enumerate(mends):
        if mend.package not in APART:
            by_package.setdefault(mend.package, []).append((number, mend))
    for package, several in by_package.items():
        found: dict[int, Placed] = {}
        for path in wheels.get(package, {}).values():
            for one in _in_release(several, path):
                found[one.number] = one
        yield from found.values()


def _in_release(mends: Iterable[tuple[int, Mend]], path: Path) -> Iterator[Placed]:
    from engine.train.edits.wheel import Wheel

    texts: dict[str, str | None] = {}
    with closing(Wheel(path)) as wheel:
        for number, mend in mends:
            if mend.path not in texts:
                texts[mend.path] = wheel.text(mend.path) if mend.path in wheel.files else None
            text = texts[mend.path]
            if text is None or len(text) > LARGEST:
                continue
            # whole lines
            at = f"\n{text}\n".find(f"\n{mend.shown}\n")
            if at >= 0 and f"\n{text}\n".find(f"\n{mend.shown}\n", at + 1) < 0:
                yield Placed(number, mend, text, at)


def choices(found: Iterable[Placed], made: Path, seed: int) -> dict[int, tuple[list, int]]:
    """Number of a mend → its answers and which of them is right, for those that have a choice. Prints how many have, by
    kind and by rank."""
    told: dict[int, dict] = {}
    if made.exists():
        rows = (json.loads(line) for line in made.read_text("utf-8").split("\n")[:-1])
        told = {row["key"]: row for row in rows}
    done: list[dict] = []
    with made.open("a", encoding="utf-8") as file:
        for one in found:
            key = zlib.crc32(repr((one.mend, one.text)).encode())
            if key not in told:
                row = {"key": key, "kind": one.mend.kind, **_choice(one, seed)}
                file.write(json.dumps(row, separators=(",", ":")) + "\n")
                file.flush()
                told[key] = row
            done.append(told[key] | {"number": one.number})
    _count(done)
    return {row["number"]: (row["answers"], row["right"]) for row in done if row["answers"]}


def _choice(one: Placed, seed: int) -> dict:
    rng = random.Random(f"{seed} {one.mend.path} {one.mend.name} {one.mend.edits}")
    try:
        found = among(one.mend.path, one.text, one.after, one.mend.shown, rng)
    except (SyntaxError, ValueError, RecursionError):
        found = None
    if found is None:
        return {"rank": -1, "answers": [], "right": -1}
    rank, answers, right = found
    told = [[[edit.line, edit.old, edit.new] for edit in answer] for answer in answers]
    return {"rank": rank, "answers": told, "right": right}


def _count(rows: list[dict]) -> None:
    print(f"{'kind of edit':28} mends  reached  in 100  in 400  in 600")
    kinds = Counter(row["kind"] for row in rows)
    for kind, number in [*kinds.most_common(), ("all", len(rows))]:
        ranks = [row["rank"] for row in rows if kind in ("all", row["kind"]) and row["rank"] >= 0]
        print(f"{kind:28} {number:5}  {len(ranks):7}  " + "  ".join(
            f"{sum(rank < most for rank in ranks):6}" for most in (100, 400, 600)))  # fmt: skip


def main() -> int:
    from engine.train.edits import lock, record
    from engine.train.edits.__main__ import fetched

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("mends", type=Path)
    parser.add_argument("lock", type=Path)
    parser.add_argument("wheels", type=Path)
    parser.add_argument("--fixes", type=Path)
    parser.add_argument("--choices", type=Path)
    parser.add_argument("--made", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if given.choices and not given.made:
        parser.error("--choices needs --made")
    began = time.process_time()
    mends = [replace(mend, answers=(), right=-1) for mend in record.read(given.mends)]
    known = lock.read(given.lock)
    wanted = [known[name] for name in dict.fromkeys(mend.package for mend in mends) if name not in APART]
    given.wheels.mkdir(parents=True, exist_ok=True)
    found = placed(mends, fetched(wanted, given.wheels))
    if given.fixes:
        with given.fixes.open("w", encoding="utf-8") as file:
            for one in found:
                mend = one.mend
                row = {"repo": mend.package, "path": mend.path, "before": one.text, "after": one.after}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
    elif given.choices:
        from engine.prompt.edits import Edit

        told = choices(found, given.made, given.seed)
        for number, (answers, right) in told.items():
            many = tuple(tuple(Edit(*edit) for edit in answer) for answer in answers)
            mends[number] = replace(mends[number], answers=many, right=right)
        size = record.write(given.choices, mends)
        print(f"{len(told)} choices of {len(mends)} mends, {size} bytes")
    print(f"{time.process_time() - began:.0f} s of a processor")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
