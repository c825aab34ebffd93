"""Which files define a name, and what the mentions in another file say of them."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Collection, Iterator
from typing import NamedTuple

from deskagent.repo.mentions import Packed

KINDS = {"function", "method", "class", "interface", "struct", "enum", "type", "macro", "module"}
COMMON = 12  # a name that more files define says nothing about which is meant
METHODS = {"method"}
# Where whoever uses a file's names also names the file (or its folder): elsewhere imports are strings.
_BY_MODULE = {"python", "go", "rust", "java"}
_STRANGER = 0.1
_MANY = 20_000  # names from which on reading the definitions of all is cheaper
_VARIABLES = 500  # of one statement; SQLite allows 999 in old builds

Lead = tuple[str, float, tuple[int, ...]]
"""A name, how strongly one file's mentions of it count, and the ids of the files it may lead to."""


class File(NamedTuple):
    """A file with definitions or mentions; of several with the same content the first by path. `id` stays with
    the path."""

    id: int
    path: bytes
    content: int
    language: str


class Homes:
    """The files that define the names in question (None: all names)."""

    def __init__(
        self, connection: sqlite3.Connection, files: list[File], names: Collection[str] | None
    ) -> None:
        at = {file.content: number for number, file in enumerate(files)}
        found: dict[str, set[int]] = {}
        self._only_methods: dict[str, bool] = {}
        for content, name, kind in _definitions(connection, names):
            if content in at and kind in KINDS:
                found.setdefault(name, set()).add(at[content])
                self._only_methods[name] = self._only_methods.get(name, True) and kind in METHODS
        self._of = {name: sorted(numbers) for name, numbers in found.items()}
        self._files = files
        self._modules: dict[int, str | None] = {}
        self.telling = {
            name for name, numbers in self._of.items() if len(numbers) <= COMMON and not name.startswith("__")
        }
        """Names whose mentions say what is meant."""

    def numbers(self, name: str) -> list[int]:
        """The files that define a name, as numbers in the list of files, by path."""
        return self._of.get(name, [])

    def leads(self, source: File, mentioned: Packed, names: Collection[str]) -> list[Lead]:
        """What these of the names that a file mentions and some files define lead to, by name."""
        found: list[Lead] = []
        for name in sorted(names):
            numbers = self._of[name]
            calls, refs = mentioned[name]
            # A method is called; where its name merely stands, that is mostly some variable's.
            count = (2 * len(calls) + (0 if self._only_methods[name] else len(refs))) / 4
            if not count:
                continue
            strength = _weight(name, len(numbers)) * math.sqrt(count)
            others = [number for number in numbers if self._files[number].id != source.id]
            known = [
                number for number in others if (module := self._module(number)) is None or module in mentioned
            ]
            if not known and others and len(numbers) == 1:
                # Not imported: it may still be a method of what is, as no other file has its like.
                known, strength = others, strength * _STRANGER
            if known:
                found.append((name, strength, tuple(self._files[number].id for number in known)))
        return found

    def _module(self, number: int) -> str | None:
        if number not in self._modules:
            self._modules[number] = module(self._files[number].path, self._files[number].language)
        return self._modules[number]


def module(path: bytes, language: str) -> str | None:
    """The name by which a file is imported: its own, or its folder's; None where imports name no module."""
    if language not in _BY_MODULE:
        return None
    *folders, leaf = path.decode("utf-8", "replace").split("/")
    stem = leaf.partition(".")[0]
    inner = stem in ("__init__", "mod", "lib", "main") or leaf.endswith(".go")
    return folders[-1] if inner and folders else stem


def _weight(name: str, homes: int) -> float:
    """How much a mention of a name says: less for common and private ones, more for long ones."""
    weight = 1.0 / homes
    if name.startswith("_"):
        weight *= 0.1
    return weight * 3.0 if len(name) >= 8 else weight


def _definitions(
    connection: sqlite3.Connection, names: Collection[str] | None
) -> Iterator[tuple[int, str, str]]:
    if names is None or len(names) > _MANY:
        yield from connection.execute("SELECT content, name, kind FROM definition")
        return
    wanted = list(names)
    for start in range(0, len(wanted), _VARIABLES):
        some = wanted[start : start + _VARIABLES]
        marks = ",".join("?" * len(some))
        yield from connection.execute(
            f"SELECT content, name, kind FROM definition WHERE name IN ({marks})", some
        )
