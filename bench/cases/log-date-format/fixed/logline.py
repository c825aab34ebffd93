"""Reads lines of a server log."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

TIME = "%d.%m.%Y %H:%M:%S"


@dataclass(frozen=True)
class Entry:
    time: datetime
    level: str
    text: str


def parse(line):
    """An Entry from a line like `24.12.2023 18:45:00 ERROR it broke`."""
    date, clock, level, text = line.rstrip("\n").split(" ", 3)
    return Entry(datetime.strptime(f"{date} {clock}", TIME), level, text)


def levels(lines):
    """How often each level occurs."""
    return Counter(parse(line).level for line in lines)


def between(lines, start, end):
    """Texts of the entries from `start` on and before `end`."""
    return [entry.text for entry in map(parse, lines) if start <= entry.time < end]
