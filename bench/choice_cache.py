"""Choices and what a checkpoint says of them, kept on disk: a run that is stopped goes on where it was.

A set's folder holds `choices-….jsonl` and, for each checkpoint, `judged-….jsonl`, a line a case as it comes.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from choice_sets import Maker

from deskagent.repair.model.judge import Judge
from deskagent.repair.model.measure.choices import Choice, line_of, parse
from deskagent.repair.model.measure.ranks import Judged, judged

_TOLD = 10.0
"""Seconds between two words on how far it is."""


class Lines:
    """A file of lines by name, each written when it is known; a name may stand for nothing."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.found: dict[str, Any] = {}
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = path.read_bytes() if path.exists() else b""
        whole = whole[: whole.rfind(b"\n") + 1]  # without what a stopped run left half
        path.open("ab").truncate(len(whole))
        for line in whole.decode().splitlines():
            name, value = json.loads(line)
            self.found[name] = value

    def add(self, name: str, value: Any) -> None:
        self.found[name] = value
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([name, value], ensure_ascii=False) + "\n")


def choices(
    cases: Iterable[tuple[str, Maker]], path: Path | None, say: Callable[[str], None]
) -> Iterator[Choice]:
    """Of those cases that make one."""
    kept = Lines(path)
    for name, make in told(list(cases), say):
        if name not in kept.found:
            made = make()
            kept.add(name, None if made is None else line_of(made))
        if (line := kept.found[name]) is not None:
            yield parse(line)


def judgements(
    several: Iterable[Choice], judge: Judge, path: Path | None, say: Callable[[str], None]
) -> list[Judged]:
    kept = Lines(path)
    found = []
    for choice in told(list(several), say):
        if choice.name not in kept.found:
            made = judged(choice, judge)
            kept.add(choice.name, [made.rows, made.drawn])
        rows, drawn = kept.found[choice.name]
        found.append(Judged(choice, [tuple(row) for row in rows], [tuple(row) for row in drawn]))
    return found


def place(cache: Path | None, name: str, seed: int, checkpoint: Path | None = None) -> Path | None:
    """Where a set's choices are kept, or what a checkpoint says of them: another file for other weights and after a
    change of what is shown, asked or chosen from."""
    if cache is None:
        return None
    facts = [*_SHOWN, f"{seed}"]
    if checkpoint is None:
        return cache / name / f"choices-{_digest(facts)}.jsonl"
    facts += _ASKED
    for file in sorted(checkpoint.iterdir()):
        if file.suffix == ".safetensors" or file.name in ("config.json", "tokenizer.json"):
            facts.append(f"{file.name} {file.stat().st_size} {file.stat().st_mtime_ns}")
    return cache / name / f"judged-{_digest(facts)}.jsonl"


def _code(*paths: str) -> list[str]:
    root = Path(__file__).parent.parent
    return [(root / path).read_text("utf-8") for path in paths]


_SHOWN = _code(
    "deskagent/repair/model/excerpt.py",
    "engine/prompt/excerpt.py",
    "deskagent/repair/model/measure/choices.py",
)
_ASKED = _code("engine/prompt/repair.py", "engine/prompt/edits.py", "engine/prompt/render.py")
"""As of when this was imported."""


def _digest(facts: list[str]) -> str:
    return hashlib.sha256("\0".join(facts).encode()).hexdigest()[:12]


def told(several: list[Any], say: Callable[[str], None]) -> Iterator[Any]:
    began = last = time.monotonic()
    for number, one in enumerate(several, 1):
        yield one
        now = time.monotonic()
        if now - last > _TOLD or number == len(several):
            say(f"{number} of {len(several)}, {now - began:.0f} s")
            last = now


def speaker(name: str) -> Callable[[str], None]:
    return lambda words: print(f"{name}: {words}", file=sys.stderr, flush=True)
