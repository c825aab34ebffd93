"""Looks for the last commit at which the failing tests passed: back in growing steps, then halving.

Commits at which the tests can't be run, or fail in another way, decide nothing. The line of first parents is
followed; where a merge turns out to be guilty, so is the branch it brought in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from deskagent.repo import history
from deskagent.repo.history import Commit

FURTHEST = 64
"""Commits that are looked back over."""
_DEPTH = 5  # merges within merges


class Standing(StrEnum):
    """How the failing tests stand at a commit."""

    GREEN = "green"
    RED = "red"
    SKIP = "skip"


@dataclass(frozen=True)
class Guilty:
    """`green` is the last commit known to be green. `red` is the first that isn't, None where only what is not yet
    committed comes after `green`; `between` could not be told and may be guilty instead of `red`."""

    green: Commit
    red: Commit | None
    between: tuple[Commit, ...] = ()


Try = Callable[[Commit], Standing]
Stop = Callable[[], bool]


def last_green(commits: Sequence[Commit], try_: Try, *, dirty: bool, stop: Stop) -> Guilty | None:
    """Looks for a green one among `commits`, the newest first. `dirty`: the newest may be green, else it is known to
    be red. None if there is none, or none was found before `stop`."""
    known: dict[int, Standing] = {} if dirty else {0: Standing.RED}
    for index in _steps(len(commits)):
        if index in known:
            continue
        if stop():
            return None
        known[index] = try_(commits[index])
        if known[index] is Standing.GREEN:
            return narrow(commits[: index + 1], known, try_, stop)
    return None


def narrow(commits: Sequence[Commit], known: dict[int, Standing], try_: Try, stop: Stop) -> Guilty:
    """Halves the way between the last of `commits`, which is green, and the nearest newer one that is red."""
    green = len(commits) - 1
    red = max((i for i, standing in known.items() if standing is Standing.RED and i < green), default=-1)
    while True:
        middle = (red + green) // 2
        untold = [i for i in range(red + 1, green) if i not in known]
        if not untold or stop():
            break
        index = min(untold, key=lambda i: abs(i - middle))
        known[index] = try_(commits[index])
        if known[index] is Standing.GREEN:
            green = index
        elif known[index] is Standing.RED:
            red = index
    return Guilty(commits[green], commits[red] if red >= 0 else None, tuple(commits[red + 1 : green]))


def into_branches(repo: Path, found: Guilty, try_: Try, stop: Stop) -> Commit | None:
    """The commit to blame: `found.red`, or where that is a merge the guilty commit of the branch, if there is one.
    None where it can't be told. GitError."""
    culprit = found.red
    for _ in range(_DEPTH):
        if culprit is None or found.between:
            return None
        if len(culprit.parents) < 2:
            return culprit
        inner = _branch(repo, culprit, try_, stop)
        if inner is None:
            return culprit
        found, culprit = inner, inner.red
    return culprit


def _branch(repo: Path, merge: Commit, try_: Try, stop: Stop) -> Guilty | None:
    """The guilty part of a branch that `merge` brought in; None where every branch by itself is green, or was red
    already where it began."""
    first = merge.parents[0]
    for tip in merge.parents[1:]:
        base = history.merge_base(repo, first, tip)
        start = history.commit(repo, base) if base else None
        commits = history.line(repo, tip, limit=FURTHEST, without=first)
        if start is None or not commits or commits[-1].parents[:1] != (start.id,) or stop():
            continue
        if try_(commits[0]) is Standing.RED and not stop() and try_(start) is Standing.GREEN:
            return narrow((*commits, start), {0: Standing.RED}, try_, stop)
    return None


def _steps(count: int) -> Iterator[int]:
    """0, 1, 2, 4, 8, … and then what was passed over, the nearest first."""
    step = 1
    yield from range(min(1, count))
    while step < count:
        yield step
        step *= 2
    yield from range(count)
