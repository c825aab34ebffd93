"""All that differs between a green tree and the work tree, in pieces that can be taken back one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from deskagent.repair.regress.hunks import Hunk, atoms, hunks, words
from deskagent.repair.regress.trees import Difference
from deskagent.repair.source import SourceError, SourceFile
from deskagent.repair.tokens import TokenStream

_RENAMED = 0.5
"""So much of a file's lines must have stayed for it to be taken for the one that vanished."""
_PAIRED = 50  # files that vanished or came; more aren't compared with each other


@dataclass(frozen=True)
class Piece:
    """One thing that can be taken back: a hunk of a file, or (`files`) files as wholes, None where one is to go.
    `before` is the file's path in the old tree."""

    path: str
    before: str
    hunk: Hunk | None = None
    files: Mapping[str, bytes | None] = field(default_factory=dict)

    @property
    def where(self) -> str:
        """In words a person can look up."""
        return f"{self.path}:{self.hunk.first}" if self.hunk else self.path


@dataclass(frozen=True)
class Changes:
    """`pieces` are all changes; `then` and `now` the sources of files with hunks, by their path now."""

    pieces: tuple[Piece, ...]
    then: Mapping[str, SourceFile]
    now: Mapping[str, SourceFile]

    def reverted(self, pieces: Iterable[Piece]) -> dict[str, bytes | None]:
        """The files to set so that just `pieces` are taken back. SourceError."""
        wanted = list(pieces)
        found: dict[str, bytes | None] = {}
        moved: dict[str, str] = {}
        for piece in wanted:
            found |= piece.files
            if piece.hunk is None and piece.path in self.now:
                moved[piece.path] = next(path for path, data in piece.files.items() if data is not None)
        edits: dict[str, list[Hunk]] = {}
        for piece in wanted:
            if piece.hunk is not None:
                edits.setdefault(piece.path, []).append(piece.hunk)
        for path in dict.fromkeys((*edits, *moved)):
            new = self.now[path].apply([hunk.edit for hunk in edits.get(path, ())])
            found[moved.get(path, path)] = new
        return dict(sorted(found.items(), key=lambda item: item[1] is not None))

    def in_lines(self, pieces: Sequence[Piece]) -> list[Piece]:
        """`pieces` taken apart into single lines and groups of lines."""
        return self._apart(pieces, atoms)

    def in_words(self, pieces: Sequence[Piece]) -> list[Piece]:
        """`pieces` with single lines taken apart into what changed in them."""
        return self._apart(pieces, words)

    def _apart(self, pieces: Sequence[Piece], split: Callable[[Hunk, SourceFile], list[Hunk]]) -> list[Piece]:
        found: list[Piece] = []
        for piece in pieces:
            parts = split(piece.hunk, self.now[piece.path]) if piece.hunk else []
            found += [replace(piece, hunk=part) for part in parts] or [piece]
        return found


def pieces_of(differences: Mapping[str, Difference]) -> Changes:
    """The pieces of `differences`. A file that came under another name is compared with the one that went."""
    came_from = _renames(differences)
    then: dict[str, SourceFile] = {}
    now: dict[str, SourceFile] = {}
    pieces: list[Piece] = []
    for path, change in differences.items():
        if path in came_from.values():
            continue
        before = came_from.get(path, path)
        old = differences[before].then
        try:
            if old is None or change.now is None:
                raise SourceError("It came or went as a whole.")
            then[path], now[path] = SourceFile.from_bytes(path, old), SourceFile.from_bytes(path, change.now)
        except SourceError:
            then.pop(path, None)
            now.pop(path, None)
            gone: dict[str, bytes | None] = {path: None} if before != path else {}
            pieces.append(Piece(path, before, files={**gone, before: old}))
            continue
        if before != path and change.now is not None:
            pieces.append(Piece(path, before, files={path: None, before: change.now}))
        lines = hunks(then[path], now[path])
        pieces += [Piece(path, before, hunk) for hunk in lines if _matters(hunk, now[path])]
    return Changes(tuple(pieces), then, now)


def _matters(hunk: Hunk, now: SourceFile) -> bool:
    """Whether taking it back changes more than Python's layout and comments."""
    return not hunk.path.endswith(".py") or bool(TokenStream(now).key([hunk.edit]))


def _renames(differences: Mapping[str, Difference]) -> dict[str, str]:
    """Path now → path then, for files that are likely the same under another name."""
    gone = {path: _lines(d.then) for path, d in differences.items() if d.now is None and d.then}
    came = {path: _lines(d.now) for path, d in differences.items() if d.then is None and d.now}
    if max(len(gone), len(came)) > _PAIRED:
        return {}
    alike = [
        (2 * (lines & old).total() / max(1, lines.total() + old.total()), path, before)
        for path, lines in came.items()
        for before, old in gone.items()
        if path.rpartition(".")[2] == before.rpartition(".")[2]
    ]
    found: dict[str, str] = {}
    for share, path, before in sorted(alike, reverse=True):
        if share >= _RENAMED and path not in found and before not in found.values():
            found[path] = before
    return found


def _lines(data: bytes | None) -> Counter[bytes]:
    return Counter(line.strip() for line in (data or b"").splitlines() if line.strip())
