"""The commits of a repository and what they changed, read without checking anything out.

Commits are followed by their first parents: one entry for every merge, as the branch itself saw it. Nothing of
the repository's is run (see deskagent.repo.git).
"""

from __future__ import annotations

import collections
import itertools
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from deskagent.repo.git import GitError, run, without_filters

_FORMAT = "%H%x00%h%x00%P%x00%s"
_FIELDS = 4
_RAW = ("-z", "--raw", "--no-renames", "--no-ext-diff", "--no-abbrev")
_LINK, _SUBMODULE = "120000", "160000"
_HUNK = re.compile(rb"^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_TO = b"+++ b/"
_NO_NEWLINE = b"\\ "


@dataclass(frozen=True)
class Commit:
    """A commit: full and short id, ids of its parents, first line of its message."""

    id: str
    short: str
    parents: tuple[str, ...]
    subject: str

    def __str__(self) -> str:
        return f"{self.short} {self.subject!r}"


@dataclass(frozen=True)
class Changed:
    """A path that two commits hold differently: blob ids, None where it is absent. `plain` is False for links and
    submodules, whose contents are no file's."""

    path: str
    before: str | None
    after: str | None
    plain: bool


def commit(repo: Path, revision: str) -> Commit | None:
    """The commit that a branch, tag or id names; None if it names none. GitError for a repository that git can't
    read."""
    if not revision or revision.startswith("-") or "\0" in revision:
        return None
    try:
        name = run(repo, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}").decode().strip()
    except GitError:
        run(repo, "rev-parse", "--git-dir")  # a repository that git refuses says so
        return None
    return next(iter(_log(repo, name, "--max-count=1")), None)


def line(repo: Path, tip: str, *, limit: int, without: str | None = None) -> tuple[Commit, ...]:
    """`tip` and its first parents, the newest first, at most `limit`; those that `without` reaches are left out.
    GitError."""
    span = (tip,) if without is None else (tip, f"^{without}")
    return tuple(_log(repo, *span, "--first-parent", f"--max-count={limit}"))


def is_ancestor(repo: Path, older: str, newer: str) -> bool:
    """Whether `older` is `newer` or one of its ancestors. GitError."""
    return run(repo, "rev-list", "--max-count=1", older, f"^{newer}") == b""


def merge_base(repo: Path, one: str, other: str) -> str | None:
    """The best common ancestor of two commits, None if they have none."""
    try:
        return run(repo, "merge-base", one, other).decode().split("\n", 1)[0] or None
    except GitError:
        return None


def is_shallow(repo: Path) -> bool:
    """Whether the history was cut off when the repository was cloned. GitError."""
    return run(repo, "rev-parse", "--is-shallow-repository").strip() == b"true"


def changed(repo: Path, one: str, other: str) -> tuple[Changed, ...]:
    """What differs between two commits, a rename being a path that goes and one that comes. GitError."""
    return _raw(run(repo, "diff-tree", "-r", *_RAW, one, other, "--"))


def uncommitted(repo: Path) -> tuple[Changed, ...]:
    """Tracked paths that may differ between HEAD and the work tree; `after` is None throughout. GitError."""
    found = _raw(
        run(repo, *without_filters(repo), "diff-index", "--ignore-submodules=dirty", *_RAW, "HEAD", "--")
    )
    return tuple(replace(entry, after=None) for entry in found)


def _raw(out: bytes) -> tuple[Changed, ...]:
    parts = out.split(b"\0")
    found = []
    for about, path in zip(parts[0::2], parts[1::2], strict=False):
        mode, new_mode, before, after, _ = about.lstrip(b":").decode().split(" ")
        odd = {mode, new_mode} & {_LINK, _SUBMODULE}
        found.append(Changed(os.fsdecode(path), _id(before), _id(after), not odd))
    return tuple(found)


def touched_lines(
    repo: Path, commits: Sequence[str], paths: Sequence[str]
) -> tuple[Mapping[str, frozenset[int]], ...]:
    """For each of `commits`: path → 1-based lines of the work tree that differ from it. A place where lines were only
    taken away is told by the lines around it. GitError."""
    filters = tuple(without_filters(repo))
    plain = ("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--ignore-submodules=all")
    layout = ("--src-prefix=a/", "--dst-prefix=b/", "--unified=0")
    return tuple(
        _lines_of(run(repo, *filters, "diff", *plain, *layout, since, "--", *paths)) for since in commits
    )


def _lines_of(diff: bytes) -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    path = ""
    lines = iter(diff.split(b"\n"))
    for text in lines:
        if text.startswith(_TO):
            path = os.fsdecode(text[len(_TO) :].rstrip(b"\t"))
        elif text.startswith(b"diff --git"):
            path = ""
        elif match := _HUNK.match(text):
            gone, start, came = int(match[1] or b"1"), int(match[2]), int(match[3] or b"1")
            # The body is counted off: a line of the file itself may look like a header.
            body = (text for text in lines if not text.startswith(_NO_NEWLINE))
            collections.deque(itertools.islice(body, gone + came), maxlen=0)
            if path:
                found.setdefault(path, set()).update(
                    range(start, start + came) if came else (start, start + 1)
                )
    return {path: frozenset(lines) for path, lines in found.items()}


def _log(repo: Path, *arguments: str) -> Iterable[Commit]:
    settings = ("--no-show-signature", "--no-notes", "--no-color", "--encoding=UTF-8", f"--format={_FORMAT}")
    fields = (
        run(repo, "log", "-z", *settings, *arguments, "--")
        .decode("utf-8", "replace")
        .rstrip("\n")
        .split("\0")
    )
    for at in range(0, len(fields) - _FIELDS + 1, _FIELDS):
        full, short, parents, subject = fields[at : at + _FIELDS]
        yield Commit(full, short, tuple(parents.split()), subject)


def _id(name: str) -> str | None:
    return name if name.strip("0") else None
