"""A map of the repository that fits a token budget: the files and definitions that the rest leans on most.

Files are nodes, and a file leads to those that define the names it mentions. PageRank over that, started at
what is of interest, ranks the files; each file hands its rank on to the definitions it leads to.
"""

from __future__ import annotations

import heapq
import math
import os
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterator

from deskagent.repo import leads
from deskagent.repo.graph import pagerank
from deskagent.repo.homes import KINDS, File, Homes, Lead

CHARACTERS_PER_TOKEN = 3.5
_FOCUS = 20.0  # how much more a name or file of interest weighs
_UNMENTIONED = 1e-3  # of its file's rank, for a definition that no file leads to
_MISFITS = 100  # definitions in a row without room, after which no other is tried

_Key = tuple[int, str]
"""A definition: the number of its file, its name."""


def tokens(text: str) -> int:
    """An estimate of how many tokens a model makes of `text`."""
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)


def repo_map(connection: sqlite3.Connection, budget: int, focus: Collection[str] = ()) -> str:
    """Signatures under their files' paths, the highest ranked first, in at most `budget` tokens by estimate.

    `focus` holds names and paths of interest. Empty if the index is, or if nothing fits.
    """
    found = leads.bring_up(connection)
    files, rows = found.files, found.rows
    names = [_leaf(name) for name in focus]
    homes = Homes(connection, files, set(names))
    if names:
        rows = _weighed(files, rows, set(names), leads.common(connection, files, set(names)))
    personal = [_FOCUS if _of_interest(os.fsdecode(file.path), focus) else 0.0 for file in files]
    for name in names:
        for home in homes.numbers(name):
            personal[home] += _FOCUS / 2
    if any(personal):
        personal = [value + 0.1 for value in personal]
    number = {file.id: at for at, file in enumerate(files)}
    edges = [
        (source, number[target], strength, name)
        for source, row in enumerate(rows)
        for name, strength, targets in row
        for target in targets
    ]
    ranks = pagerank(len(files), ((source, target, weight) for source, target, weight, _ in edges), personal)
    worth = _worth(len(files), edges, ranks)
    for home, value in enumerate(personal):
        own = _defined(connection, files[home]) if value >= _FOCUS else []
        for name in own:
            if name not in names:
                worth[home, name] = worth.get((home, name), 0.0) + ranks[home] / len(own)
    for name in set(names):
        for home in homes.numbers(name):
            worth[home, name] = worth.get((home, name), 0.0) + 1.0
    return _render(connection, files, _by_worth(connection, files, worth, ranks), budget)


def _leaf(name: str) -> str:
    """The last part of a dotted name, as a database takes it."""
    return name.rpartition(".")[2].encode("utf-8", "replace").decode()


def _weighed(
    files: list[File], rows: list[list[Lead]], wanted: set[str], more: dict[int, list[Lead]]
) -> list[list[Lead]]:
    """The leads with those of the wanted names strengthened, and with more of these."""
    weighed: list[list[Lead]] = []
    for file, row in zip(files, rows, strict=True):
        if file.id in more:
            row = sorted(row + more[file.id])
        if any(name in wanted for name, _, _ in row):
            row = [
                (name, strength * _FOCUS if name in wanted else strength, targets)
                for name, strength, targets in row
            ]
        weighed.append(row)
    return weighed


def _worth(size: int, edges: list[tuple[int, int, float, str]], ranks: list[float]) -> dict[_Key, float]:
    """For every definition that a file leads to the rank that flows into it."""
    out = [0.0] * size
    for source, _, weight, _ in edges:
        out[source] += weight
    worth: dict[_Key, float] = {}
    for source, target, weight, name in edges:
        key = (target, name)
        worth[key] = worth.get(key, 0.0) + ranks[source] * weight / out[source]
    return worth


def _of_interest(path: str, focus: Collection[str]) -> bool:
    return any(path == item or ("/" in item and path.startswith(item.rstrip("/") + "/")) for item in focus)


def _defined(connection: sqlite3.Connection, file: File) -> list[str]:
    """The names that a file defines, each once, in order."""
    rows = connection.execute("SELECT name, kind FROM definition WHERE content = ?", (file.content,))
    return sorted({name for name, kind in rows if kind in KINDS})


def _by_worth(
    connection: sqlite3.Connection, files: list[File], worth: dict[_Key, float], ranks: list[float]
) -> Iterator[_Key]:
    """All definitions, the worthiest first; those that nobody leads to are looked up as they are needed."""

    def others() -> Iterator[tuple[float, _Key]]:
        for home in sorted(range(len(files)), key=lambda home: (-ranks[home] * _UNMENTIONED, home)):
            for name in _defined(connection, files[home]):
                if (home, name) not in worth:
                    yield -ranks[home] * _UNMENTIONED, (home, name)

    mentioned = sorted((-value, key) for key, value in worth.items())
    return (key for _, key in heapq.merge(mentioned, others()))


def _render(connection: sqlite3.Connection, files: list[File], keys: Iterator[_Key], budget: int) -> str:
    """Takes definitions in their order as long as there is room."""
    room = int(budget * CHARACTERS_PER_TOKEN)
    chosen: defaultdict[int, dict[int, str]] = defaultdict(dict)
    misfits = 0
    for home, name in keys:
        if room < 8 or misfits >= _MISFITS:
            break
        for ordinal, text in _signatures(connection, files[home].content, name):
            cost = len(text) + (0 if home in chosen else len(_shown(files[home].path)) + 3)
            if cost <= room:
                room -= cost
                chosen[home][ordinal] = text
                misfits = 0
            else:
                misfits += 1
    parts = [
        f"{_shown(files[home].path)}:\n" + "".join(text for _, text in sorted(chosen[home].items()))
        for home in chosen  # in the order of their best definitions
    ]
    return "\n".join(parts)


def _signatures(connection: sqlite3.Connection, content: int, name: str) -> list[tuple[int, str]]:
    rows = connection.execute(
        "SELECT ordinal, line, qualified, kind, signature FROM definition WHERE content = ? AND name = ?",
        (content, name),
    )
    return [
        (ordinal, f"{line:>5} {'  ' * qualified.count('.')}{signature}\n")
        for ordinal, line, qualified, kind, signature in rows
        if kind in KINDS
    ]


def _shown(path: bytes) -> str:
    return path.decode("utf-8", "replace")
