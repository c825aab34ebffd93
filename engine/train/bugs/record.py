"""Bugs whose failing test was seen by running it, as a file beside the shards; what stands in those isn't kept."""

from __future__ import annotations

import json
import lzma
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import CheckpointError
from engine.train.corpus.files import Document

_FILTERS = [
    {
        "id": lzma.FILTER_LZMA2,
        "preset": 9 | lzma.PRESET_EXTREME,
        "pb": 0,
        "dict_size": 64 << 20,
        "lc": 4,
        "lp": 0,
    }
]


@dataclass(frozen=True, slots=True)
class Bug:
    """[start, end) of a function's text becomes `new`. kind: of the failure. failure: what a test says of it. thought:
    the value expected and that seen; "" where it is what `seen` makes of the failure."""

    start: int
    end: int
    new: str
    kind: str
    failure: str
    thought: str

    @property
    def thinking(self) -> str:
        return self.thought or seen(self.failure)

    def put(self, text: str) -> str:
        return text[: self.start] + self.new + text[self.end :]


@dataclass(frozen=True, slots=True)
class Function:
    """Lines [first, last) of a file, from 0. check: of their text."""

    package: str
    path: str
    name: str
    first: int
    last: int
    check: int


@dataclass(frozen=True, slots=True)
class Record:
    """document: that the function stands in, without the bug."""

    document: Document
    function: Function
    bug: Bug


def seen(failure: str) -> str:
    """What a failure's last line says, as a thought."""
    return f"got {failure.rpartition(chr(10))[2].removeprefix('E ')}\n"


def difference(text: str, other: str) -> tuple[int, int, str]:
    """What of text has to become what, to be the other."""
    same = 0
    for one, two in zip(text, other, strict=False):
        if one != two:
            break
        same += 1
    end, most = 0, min(len(text), len(other)) - same
    while end < most and text[-1 - end] == other[-1 - end]:
        end += 1
    return same, len(text) - end, other[same : len(other) - end]


def check(text: str) -> int:
    return zlib.crc32(text.encode())


def write(path: Path, lines: Iterable[str]) -> None:
    """lines: of `line`."""
    path.write_bytes(lzma.compress("".join(sorted(lines)).encode(), filters=_FILTERS))


def line(function: Function, bugs: Sequence[Bug]) -> str:
    told = [[bug.start, bug.end, bug.new, bug.kind, bug.failure, bug.thought] for bug in bugs]
    head = [function.package, function.path, function.name, function.first, function.last, function.check]
    return json.dumps([*head, told], ensure_ascii=False, separators=(",", ":")) + "\n"


def parsed(text: str) -> Iterator[tuple[Function, list[Bug]]]:
    for each in text.split("\n"):
        if each:
            *head, bugs = json.loads(each)
            yield Function(*head), [Bug(*bug) for bug in bugs]


def read(path: Path, documents: Sequence[Document]) -> list[Record]:
    """Records of functions as they stand in the documents. Errors: CheckpointError for a file that holds no records, or
    mostly those of other documents."""
    known = {(each.package, each.path): each for each in documents}
    found: list[Record] = []
    missing = 0
    try:
        for function, bugs in parsed(lzma.decompress(path.read_bytes()).decode()):
            document = known.get((function.package, function.path))
            text = "\n".join(document.text.split("\n")[function.first : function.last]) if document else ""
            if document is None or check(text) != function.check:
                missing += len(bugs)
            else:
                found += [Record(document, function, bug) for bug in bugs]
    except (OSError, lzma.LZMAError, ValueError, TypeError) as error:
        raise CheckpointError(f"{path}: no records of bugs: {error}") from error
    if missing > len(found):
        raise CheckpointError(
            f"{path}: records of other files than these; make them by engine.train.bugs.trace"
        )
    return found
