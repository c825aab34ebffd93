"""Puts sources into the database: their text, their definitions and the names they mention."""

from __future__ import annotations

import os
import sqlite3

from deskagent.repo import mentions
from deskagent.repo.attempts import Attempts
from deskagent.repo.languages import Language, language_of, tools
from deskagent.repo.sources import Source, Stamp
from deskagent.repo.symbols import Symbols, Unparsable, extract

_CACHED_NAMES = 300_000
_VARIABLES = 500  # of one statement; SQLite allows 999 in old builds


class Contents:
    """The writing side of one connection, within the caller's transactions. Unfit after one is rolled back."""

    def __init__(self, connection: sqlite3.Connection, attempts: Attempts) -> None:
        self._connection = connection
        self._attempts = attempts
        self._names: set[str] = set()

    def put(self, source: Source) -> None:
        """Says what lies at a path; content that is known already is not read again."""
        content = None if source.text is None else self._content(source, source.text)
        self._file(source.path, content, source.note, source.stamp)

    def drop(self, path: str) -> None:
        """Says that nothing lies at a path."""
        self._connection.execute("DELETE FROM file WHERE path = ?", (os.fsencode(path),))

    def _file(self, path: str, content: int | None, note: str, stamp: Stamp) -> None:
        self._connection.execute(
            "INSERT OR REPLACE INTO file (path, content, note, size, mtime, ctime, inode)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (os.fsencode(path), content, note, stamp.size, stamp.mtime, stamp.ctime, stamp.inode),
        )

    def _content(self, source: Source, text: str) -> int:
        data = text.encode("utf-8", "replace")
        language = language_of(source.path, data)
        label = language.name if language and tools(language) else ""
        known = self._connection.execute(
            "SELECT id FROM content WHERE hash = ? AND language = ?", (source.hash, label)
        ).fetchone()
        if known:
            return known[0]
        symbols, note = self._symbols(data, source.hash, language if label else None)
        row = self._connection.execute(
            "INSERT INTO content (hash, language, note, mentions) VALUES (?, ?, ?, ?)",
            (source.hash, label, note, mentions.encode(symbols)),
        )
        assert row.lastrowid is not None
        self._connection.execute("INSERT INTO body (rowid, text) VALUES (?, ?)", (row.lastrowid, text))
        self._define(row.lastrowid, symbols)
        return row.lastrowid

    def _symbols(self, data: bytes, digest: bytes, language: Language | None) -> tuple[Symbols, str]:
        if language is None:
            return Symbols(), ""
        if self._attempts.given_up(digest):
            return Symbols(), "ended the parser"
        try:
            with self._attempts.of(digest):
                return extract(data, language), ""
        except Unparsable as error:
            return Symbols(), str(error)

    def _define(self, content: int, symbols: Symbols) -> None:
        self._connection.executemany(
            "INSERT INTO definition VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (content, at, d.name, d.kind, d.qualified, d.line, d.end_line, d.signature)
                for at, d in enumerate(symbols.definitions)
            ),
        )
        self._name(symbols.calls.keys() | symbols.refs.keys() | {d.name for d in symbols.definitions})

    def _name(self, names: set[str]) -> None:
        """Adds what is new among the names to those that are searched by parts."""
        unseen = list(names - self._names)
        for start in range(0, len(unseen), _VARIABLES):
            some = unseen[start : start + _VARIABLES]
            marks = ",".join("?" * len(some))
            known = self._connection.execute(f"SELECT text FROM name WHERE text IN ({marks})", some)
            new = set(some).difference(text for (text,) in known)
            first = self._connection.execute("SELECT coalesce(max(id), 0) + 1 FROM name").fetchone()[0]
            rows = list(enumerate(sorted(new), first))
            self._connection.executemany("INSERT INTO name (id, text) VALUES (?, ?)", rows)
            self._connection.executemany("INSERT INTO trigram (rowid, text) VALUES (?, ?)", rows)
        if len(self._names) > _CACHED_NAMES:
            self._names.clear()
        self._names.update(unseen)
