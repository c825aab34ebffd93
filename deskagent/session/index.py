"""Lists and searches over all sessions, by the database where there is one, else by the journals alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import msgspec

from deskagent.errors import UsageError
from deskagent.session import database, store
from deskagent.session.record import decode_payload
from deskagent.session.summary import Summary, summarise, texts, with_state


class Hit(msgspec.Struct, frozen=True):
    """An event that holds all words looked for, with the text around the first of them."""

    session: Summary
    seq: int
    excerpt: str


def sessions(cwd: Path | None = None) -> list[Summary]:
    """All sessions, the newest first; with `cwd`, those begun in that folder or below it."""
    found = database.use(_all, lambda: [summarise(folder) for folder in store.folders()])
    root = store.sessions_dir()
    mine = [s for s in found if cwd is None or Path(s.cwd).is_relative_to(cwd)]
    return [with_state(summary, root / summary.id) for summary in mine]


def latest(cwd: Path) -> Summary | None:
    """The newest session begun in `cwd` or below it."""
    return next(iter(sessions(cwd)), None)


def search(query: str, limit: int = 50) -> list[Hit]:
    """Events with every word of `query` (words of any case, each as the beginning of one), the newest
    sessions first, at most `limit`. UsageError if there is no word in it."""
    words = ["".join(c if c.isalnum() else " " for c in word).split() for word in query.split()]
    phrases = [phrase for phrase in words if phrase]
    if not phrases:
        raise UsageError("There is no word to look for.", hint="Give at least one letter or digit.")
    return database.use(lambda db: _matches(db, phrases, limit), lambda: list(_scan(phrases, limit)))


def _all(db: sqlite3.Connection) -> list[Summary]:
    return [_summary(row) for (row,) in db.execute("SELECT summary FROM session ORDER BY id DESC")]


def _summary(row: bytes) -> Summary:
    return msgspec.convert(decode_payload(row), Summary)


def _matches(db: sqlite3.Connection, phrases: list[list[str]], limit: int) -> list[Hit]:
    wanted = " AND ".join('"' + " ".join(phrase) + '"*' for phrase in phrases)
    rows = db.execute(
        "SELECT session.summary, line.rowid & ?, snippet(line, 0, '', '', '…', 24) "
        "FROM line JOIN session ON session.number = line.rowid >> ? "
        "WHERE line MATCH ? ORDER BY session.id DESC, line.rowid LIMIT ?",
        ((1 << database.SHIFT) - 1, database.SHIFT, wanted, limit),
    )
    root = store.sessions_dir()
    return [
        Hit(with_state(summary, root / summary.id), seq, excerpt)
        for summary, seq, excerpt in ((_summary(row), seq, excerpt) for row, seq, excerpt in rows.fetchall())
    ]


def _scan(phrases: list[list[str]], limit: int) -> Iterator[Hit]:
    """The search without a database: the same words, each at the beginning of one in the text."""
    wanted = [" " + " ".join(phrase).casefold() for phrase in phrases]
    for folder in store.folders():
        summary = with_state(summarise(folder), folder)
        for seq, body in texts(folder):
            folded = body.casefold()
            plain = " " + " ".join("".join(c if c.isalnum() else " " for c in folded).split())
            if not all(phrase in plain for phrase in wanted):
                continue
            place = folded.find(phrases[0][0].casefold())
            yield Hit(summary, seq, body[max(0, place - 60) : place + 120])
            limit -= 1
            if limit == 0:
                return
