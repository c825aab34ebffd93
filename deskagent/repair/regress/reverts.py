"""Candidates that take back what made the tests fail: its fewest lines, its changes, each of these by itself.

A revert is not always the right repair, since it takes back what the change was for; so edits within the same lines
are tried right after (see suspects).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence

from deskagent.repair.candidates.base import shorten
from deskagent.repair.places import is_foreign, is_generated, matches
from deskagent.repair.regress.changes import Piece
from deskagent.repair.regress.find import Regression
from deskagent.repair.regress.hunks import Hunk
from deskagent.repair.source import SourceError, SourceFile
from deskagent.repair.syntax import Syntax
from deskagent.repair.tokens import TokenStream
from deskagent.repair.types import Candidate, Edit

PRIORS = {
    "revert.word": 0.9,
    "revert.line": 0.9,
    "revert.hunk": 0.8,
    "revert.commit": 0.4,
    "revert.part": 0.3,
}
_MOST = 40
_LARGEST = 40  # pieces taken back at once


def reverts(
    found: Regression, read: Callable[[str], SourceFile], *, files: Sequence[str] = ()
) -> Iterator[Candidate]:
    """The candidates, the likeliest first, each resulting code once. `read` gives a project's file as it is, `files`
    are the person's globs: nothing else is edited. What would bring or remove whole files is left out."""
    seen: set[str] = set()
    for operator, pieces in _sets(found):
        candidate = _candidate(found, operator, pieces, read, files)
        if candidate is not None and candidate.key not in seen:
            seen.add(candidate.key)
            yield candidate
        if len(seen) >= _MOST:
            return


def _sets(found: Regression) -> Iterator[tuple[str, Sequence[Piece]]]:
    if found.words != found.lines:
        yield "revert.word", found.words
    yield "revert.line", found.lines
    yield "revert.hunk", found.pieces
    yield from (("revert.hunk", (piece,)) for piece in found.pieces)
    yield "revert.commit", found.own
    yield from (("revert.part", (piece,)) for piece in found.changes.in_lines(found.pieces))
    yield from (("revert.part", (piece,)) for piece in found.own)


def _candidate(
    found: Regression,
    operator: str,
    pieces: Sequence[Piece],
    read: Callable[[str], SourceFile],
    files: Sequence[str],
) -> Candidate | None:
    hunks = [piece.hunk for piece in pieces if piece.hunk is not None]
    if not 0 < len(hunks) == len(pieces) <= _LARGEST:
        return None
    edits = tuple(hunk.edit for hunk in hunks)
    try:
        keys = [
            _key(read(path), [edit for edit in edits if edit.path == path], files)
            for path in sorted({edit.path for edit in edits})
        ]
    except SourceError:
        return None
    if not all(keys):
        return None
    key = keys[0] if len(keys) == 1 else hashlib.blake2b("\0".join(keys).encode(), digest_size=12).hexdigest()
    note = f"take back {_what(operator, hunks)} of {found.source}"
    first = hunks[0]
    return Candidate(edits, operator, first.path, first.first, PRIORS[operator], note, key)


def _what(operator: str, hunks: Sequence[Hunk]) -> str:
    if operator == "revert.word" and len(hunks) == 1:
        came, gone = (shorten("".join(text)) for text in (hunks[0].came, hunks[0].gone))
        return f"{came or 'nothing'} → {gone or 'nothing'}"
    lines = sum(max(len(hunk.gone), len(hunk.came)) for hunk in hunks)
    return f"{lines} {'line' if lines == 1 else 'lines'}"


def _key(source: SourceFile, edits: list[Edit], files: Sequence[str]) -> str:
    """A name for the resulting code as the other candidates have it; "" for a file or an edit that won't do."""
    path = source.path
    allowed = matches(path, files) if files else not is_generated(source.text)
    if is_foreign(path) or not allowed:
        return ""
    if path.endswith(".py"):
        # Where the file doesn't parse as it is, whatever takes the change back may be right.
        syntax = Syntax(source)
        parses = syntax.still_parses(edits) or syntax.broken
        return TokenStream(source).key(edits) if parses else ""
    return hashlib.blake2b(
        path.encode("utf-8", "surrogateescape") + source.apply(edits), digest_size=12
    ).hexdigest()
