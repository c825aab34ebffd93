"""A map of the repository that fits a token budget: the files and definitions that the rest leans on most.

Files are nodes, and a file leads to those that define the names it mentions. PageRank over that, started at
what is of interest, ranks the files; each file hands its rank on to the definitions it leads to.
"""

from __future__ import annotations

import math
import os
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field

from deskagent.repo import mentions
from deskagent.repo.graph import pagerank

CHARACTERS_PER_TOKEN = 3.5
_COMMON = 12  # a name that more files define says nothing about which is meant
_FOCUS = 20.0  # how much more a name or file of interest weighs
_KINDS = {"function", "method", "class", "interface", "struct", "enum", "type", "macro", "module"}
_METHODS = {"method"}
# Where whoever uses a file's names also names the file (or its folder): elsewhere imports are strings.
_BY_MODULE = {"python", "go", "rust", "java"}
_STRANGER = 0.1


def tokens(text: str) -> int:
    """An estimate of how many tokens a model makes of `text`."""
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)


@dataclass
class _Graph:
    paths: list[bytes] = field(default_factory=list)
    modules: list[frozenset[str]] = field(default_factory=list)  # what who uses the file calls it; or empty
    homes: dict[str, list[int]] = field(default_factory=dict)  # name → files that define it
    edges: list[tuple[int, int, float, str]] = field(default_factory=list)


def repo_map(connection: sqlite3.Connection, budget: int, focus: Collection[str] = ()) -> str:
    """Signatures under their files' paths, the highest ranked first, in at most `budget` tokens by estimate.

    `focus` holds names and paths of interest. Empty if the index is, or if nothing fits.
    """
    graph = _load(connection, frozenset(focus))
    personal = [_FOCUS if _of_interest(os.fsdecode(path), focus) else 0.0 for path in graph.paths]
    for name in focus:
        for home in graph.homes.get(name.rpartition(".")[2], ()):
            personal[home] += _FOCUS / 2
    if any(personal):
        personal = [value + 0.1 for value in personal]
    plain = ((source, target, weight) for source, target, weight, _ in graph.edges)
    ranks = pagerank(len(graph.paths), plain, personal)
    worth = _worth(graph, ranks)
    _raise(graph, ranks, worth, personal, {name.rpartition(".")[2] for name in focus})
    # Definitions nobody mentions still come, behind all others, in their files' order.
    for name, homes in graph.homes.items():
        for home in homes:
            worth.setdefault((home, name), ranks[home] * 1e-3)
    return _render(connection, graph, worth, budget)


def _load(connection: sqlite3.Connection, focus: frozenset[str]) -> _Graph:
    graph = _Graph()
    contents: dict[int, int] = {}
    blobs: list[bytes] = []
    for content, path, language, blob in connection.execute(
        "SELECT content.id, min(file.path), content.language, content.mentions FROM file"
        " JOIN content ON content.id = file.content WHERE content.language != '' GROUP BY content.id ORDER BY 2"
    ):
        contents[content] = len(graph.paths)
        graph.paths.append(path)
        graph.modules.append(_modules(path) if language in _BY_MODULE else frozenset())
        blobs.append(blob)
    homes: defaultdict[str, set[int]] = defaultdict(set)
    only_methods: dict[str, bool] = {}
    for content, name, kind in connection.execute("SELECT content, name, kind FROM definition"):
        if content in contents and kind in _KINDS:
            homes[name].add(contents[content])
            only_methods[name] = only_methods.get(name, True) and kind in _METHODS
    graph.homes = {name: sorted(found) for name, found in homes.items()}
    wanted = {name.rpartition(".")[2] for name in focus}
    weights = {
        name: weight
        for name, found in graph.homes.items()
        if (weight := _weight(name, len(found), name in wanted))
    }
    for source, blob in enumerate(blobs):
        names = mentions.decode(blob)
        for name in names.keys() & weights.keys():
            calls, refs = names[name]
            # A method is called; where its name merely stands, that is mostly some variable's.
            count = 2 * len(calls) + (0 if only_methods[name] else len(refs))
            if count:
                strength = weights[name] * math.sqrt(count / 4)
                homes_of = graph.homes[name]
                for home in homes_of:
                    if home == source:
                        continue
                    if graph.modules[home] and names.keys().isdisjoint(graph.modules[home]):
                        # Not imported: it may still be a method of what is, if no other file has its like.
                        if len(homes_of) == 1:
                            graph.edges.append((source, home, strength * _STRANGER, name))
                    else:
                        graph.edges.append((source, home, strength, name))
    return graph


def _modules(path: bytes) -> frozenset[str]:
    """The names by which a file is imported: its own, or its folder's."""
    *folders, leaf = _shown(path).split("/")
    stem = leaf.partition(".")[0]
    inner = stem in ("__init__", "mod", "lib", "main") or leaf.endswith(".go")
    return frozenset(folders[-1:] if inner and folders else (stem,))


def _weight(name: str, homes: int, wanted: bool) -> float:
    """How much a mention of a name says: less for common and private ones, more for long and wanted ones."""
    if (homes > _COMMON and not wanted) or name.startswith("__"):
        return 0.0
    weight = 1.0 / homes
    if name.startswith("_"):
        weight *= 0.1
    if len(name) >= 8:
        weight *= 3.0
    return weight * _FOCUS if wanted else weight


def _worth(graph: _Graph, ranks: list[float]) -> dict[tuple[int, str], float]:
    """For every definition (file, name) the rank that flows into it."""
    out = [0.0] * len(graph.paths)
    for source, _, weight, _ in graph.edges:
        out[source] += weight
    worth: dict[tuple[int, str], float] = {}
    for source, target, weight, name in graph.edges:
        key = (target, name)
        worth[key] = worth.get(key, 0.0) + ranks[source] * weight / out[source]
    return worth


def _raise(
    graph: _Graph,
    ranks: list[float],
    worth: dict[tuple[int, str], float],
    personal: list[float],
    wanted: Collection[str],
) -> None:
    """Puts definitions of the wanted names first, and those of files of interest before their like."""
    own = Counter(home for homes in graph.homes.values() for home in homes)
    for name, homes in graph.homes.items():
        for home in homes:
            if name in wanted:
                worth[home, name] = worth.get((home, name), 0.0) + 1.0
            elif personal[home] >= _FOCUS:
                worth[home, name] = worth.get((home, name), 0.0) + ranks[home] / own[home]


def _of_interest(path: str, focus: Collection[str]) -> bool:
    return any(path == item or ("/" in item and path.startswith(item.rstrip("/") + "/")) for item in focus)


def _render(
    connection: sqlite3.Connection,
    graph: _Graph,
    worth: dict[tuple[int, str], float],
    budget: int,
) -> str:
    """Takes definitions by their worth until the next would not fit."""
    room = int(budget * CHARACTERS_PER_TOKEN)
    chosen: defaultdict[int, dict[int, str]] = defaultdict(dict)
    for home, name in sorted(worth, key=lambda key: (-worth[key], key)):
        if room < 8:
            break
        for ordinal, text in _signatures(connection, graph.paths[home], name):
            cost = len(text) + (0 if home in chosen else len(_shown(graph.paths[home])) + 3)
            if cost <= room:
                room -= cost
                chosen[home][ordinal] = text
    parts = [
        f"{_shown(graph.paths[home])}:\n" + "".join(text for _, text in sorted(chosen[home].items()))
        for home in chosen  # in the order of their best definitions
    ]
    return "\n".join(parts)


def _signatures(connection: sqlite3.Connection, path: bytes, name: str) -> list[tuple[int, str]]:
    rows = connection.execute(
        "SELECT ordinal, line, qualified, kind, signature FROM definition"
        " WHERE name = ? AND content = (SELECT content FROM file WHERE path = ?)",
        (name, path),
    )
    return [
        (ordinal, f"{line:>5} {'  ' * qualified.count('.')}{signature}\n")
        for ordinal, line, qualified, kind, signature in rows
        if kind in _KINDS
    ]


def _shown(path: bytes) -> str:
    return path.decode("utf-8", "replace")
