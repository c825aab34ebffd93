"""The choice among real candidates: which of them mends the bug. The right one is learnt; the others are kept in the
record, for a loss that compares them.

A file of records is xz-compressed JSON lines: path, excerpt, failure, request, candidates (edits as answers write
them), right (the number of the one that mends).
"""

from __future__ import annotations

import json
import lzma
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from random import Random

from engine.errors import CheckpointError
from engine.prompt.edits import parse
from engine.prompt.repair import Question
from engine.train.bugs.answer import example
from engine.train.corpus.files import Document
from engine.train.example import Example

FILE = "contrast.jsonl.xz"
_HELD = 20
"""One in so many packages is held out."""


@dataclass(frozen=True, slots=True)
class Record:
    path: str
    excerpt: str
    failure: str
    request: str
    candidates: list[str]
    right: int


def contrast(records: Sequence[Record], _: Document, random: Random) -> Example | None:
    """A record at random, whatever the document."""
    if not records:
        return None
    record = random.choice(records)
    question = Question(record.path, record.excerpt, record.failure, record.request)
    return example(question, parse(record.candidates[record.right]), "", random)


def read(folder: Path, half: str) -> list[Record]:
    """half: `train` or `held`. None where the folder has no such file. Errors: CheckpointError for a damaged one."""
    path = folder / FILE
    if not path.exists():
        return []
    try:
        found = list(_records(path))
    except (OSError, lzma.LZMAError, EOFError, ValueError, TypeError) as error:
        raise CheckpointError(f"{path}: no records of choices: {error}") from error
    return [record for record in found if _is_held(record.path) == (half == "held")]


def _records(path: Path) -> Iterator[Record]:
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            record = Record(**json.loads(line))
            if not 0 <= record.right < len(record.candidates):
                raise ValueError(f"{record.right} is no number of {len(record.candidates)} candidates")
            yield record


def _is_held(path: str) -> bool:
    return zlib.crc32(PurePosixPath(path).parts[0].encode()) % _HELD == 0
