"""Bugs whose failing assertion was seen by running them, as lines of a file that makers read."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from engine.errors import CheckpointError


@dataclass(frozen=True, slots=True)
class Record:
    """package, path: of the file. function: name. lines: of the part, with some above and below, without the bug.
    first, last: those of the part, from 0. text: of the part with the bug. failure: what a test says of it. thought:
    the value expected and that seen, where there is one."""

    package: str
    path: str
    function: str
    lines: list[str]
    first: int
    last: int
    text: str
    failure: str
    thought: str = ""


def write(path: Path, records: Iterable[Record]) -> None:
    path.write_bytes(lzma.compress("".join(map(line, records)).encode(), preset=9))


def line(record: Record) -> str:
    return json.dumps(asdict(record), ensure_ascii=False) + "\n"


def read(path: Path) -> list[Record]:
    """Errors: CheckpointError for a file that holds no records."""
    try:
        return list(parsed(lzma.decompress(path.read_bytes()).decode()))
    except (OSError, lzma.LZMAError, ValueError, TypeError) as error:
        raise CheckpointError(f"{path}: no records of bugs: {error}") from error


def parsed(text: str) -> Iterator[Record]:
    return (Record(**json.loads(each)) for each in text.split("\n") if each)
