"""What of a model's changes counts as a repair, and the candidate that they make.

Tests, and what decides which tests run, are never part of it: a patch is tried and proved with these as they were.
"""

from __future__ import annotations

import difflib
import hashlib
import itertools
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from deskagent.agent.repairing.tree import Changed
from deskagent.agent.sources import Sources
from deskagent.repair.places import is_foreign, is_test, matches
from deskagent.repair.source import SourceError, SourceFile
from deskagent.repair.tokens import TokenStream
from deskagent.repair.types import Candidate, Edit
from deskagent.tools.bench import Patch

OPERATOR = "model"
"""Kind of edit, dotted with how the model works."""
PRIOR = 0.5
"""A patch that a model gave on purpose is as likely the right one as not."""
_SETTINGS = frozenset(
    {
        *("pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml", ".coveragerc", "noxfile.py"),
        *("Makefile", "makefile", "GNUmakefile", "package.json", "go.mod", "Cargo.toml"),
    }
)
_RUNNERS = frozenset({"pytest", "_pytest", "pluggy", "iniconfig", "sitecustomize", "usercustomize"})
_MOST_LINES = 5000
"""Of a file whose lines are compared one by one; in a longer one the first and the last change make one edit."""


@dataclass(frozen=True)
class Allowed:
    """globs: the person's, of the only files that may be edited; none: all. tests: files that the failing and passing
    tests, and the command, are in."""

    globs: Sequence[str] = ()
    tests: frozenset[str] = frozenset()

    def refusal(self, path: str, *, new: bool) -> str:
        """Why a change of the file doesn't count; "" where it does."""
        pure = PurePosixPath(path)
        if path in self.tests or is_test(path):
            return "is a test, and tests stay as they are"
        if pure.name in _SETTINGS or pure.suffix == ".pth":
            return "can decide which tests run, and stays as it is"
        if is_foreign(path):
            return "is not the project's own source"
        if self.globs and not matches(path, self.globs):
            return "is none of the files that may be edited"
        if new and pure.parts[0].removesuffix(".py") in _RUNNERS | sys.stdlib_module_names:
            return "would stand in for a module of Python or of its tests"
        return ""


def counted(changed: Changed, sources: Sources, allowed: Allowed) -> Patch:
    """The part of the changes that is a repair, with notes on the rest for who made them."""
    files: dict[str, bytes] = {}
    notes = [f"Not taken: {why}." for why in (changed.unread or {}).values()]
    notes += [
        f"{path} is gone in your copy; a repair can't delete files, so it stays." for path in changed.gone
    ]
    for path, after in changed.files.items():
        before = sources.there(path)
        if before is not None and before.raw == after:
            continue
        if why := allowed.refusal(path, new=before is None):
            notes.append(f"{path} {why}: your change of it doesn't count.")
            continue
        try:
            SourceFile.from_bytes(path, after)
            files[path] = after
        except SourceError as error:
            notes.append(f"Not taken: {error.message}.")
    return Patch(files, tuple(notes))


def candidate(files: Mapping[str, bytes], sources: Sources, operator: str, note: str) -> Candidate:
    """The candidate that makes these files of the project's. Errors: SourceError where edits can't say it."""
    edits: list[Edit] = []
    for path, after in sorted(files.items()):
        file = sources.or_empty(path)
        wanted = SourceFile.from_bytes(path, after).text
        for made in (_edits(file, wanted), _whole(file, wanted)):
            if file.apply(made) == after:
                edits += made
                break
        else:
            raise SourceError(f"{path}: its encoding or line ends were changed, which is left alone")
    first = edits[0]
    line = sources.or_empty(first.path).utf8[: first.start].count(b"\n") + 1
    return Candidate(tuple(edits), operator, first.path, line, PRIOR, note, _key(files, edits, sources))


def _key(files: Mapping[str, bytes], edits: list[Edit], sources: Sources) -> str:
    """As a search names the same code, so that nothing is tried or shown twice."""
    [path, *others] = files
    if not others and path.endswith(".py") and (key := TokenStream(sources.or_empty(path)).key(edits)):
        return key
    digest = hashlib.blake2b(digest_size=12)
    for name, after in sorted(files.items()):
        digest.update(f"{name}\0{len(after)}\0".encode("utf-8", "surrogateescape") + after)
    return digest.hexdigest()


def _whole(file: SourceFile, wanted: str) -> list[Edit]:
    return [Edit(file.path, 0, len(file.utf8), wanted)]


def _edits(file: SourceFile, wanted: str) -> list[Edit]:
    """One for each run of lines that differs."""
    old, new = file.text.splitlines(keepends=True), wanted.splitlines(keepends=True)
    at = [0, *itertools.accumulate(len(line.encode()) for line in old)]
    if max(len(old), len(new)) > _MOST_LINES:
        first = sum(1 for _ in itertools.takewhile(lambda p: p[0] == p[1], zip(old, new, strict=False)))
        rest = zip(reversed(old[first:]), reversed(new[first:]), strict=False)
        last = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], rest))
        runs = [(first, len(old) - last, first, len(new) - last)]
    else:
        codes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        runs = [(a, b, c, d) for tag, a, b, c, d in codes if tag != "equal"]
    made = [Edit(file.path, at[a], at[b], "".join(new[c:d])) for a, b, c, d in runs]
    return made or _whole(file, wanted)  # a new file may be empty
