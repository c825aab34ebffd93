"""Where the edited functions are called: the files whose call sites are worth a look."""

from __future__ import annotations

import ast
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from deskagent.errors import DeskagentError
from deskagent.repair.choose.targets import Target, parse
from deskagent.repair.types import Baseline

_log = logging.getLogger(__name__)
_FILES, _BYTES = 40, 1_000_000  # read at most


def modules(
    project: Path,
    read: Callable[[str], bytes],
    baseline: Baseline,
    tests: Sequence[str],
    targets: Sequence[Target],
) -> Mapping[str, ast.Module]:
    """Path → syntax tree of the files that call the targets: their own, those that the tests ran, the tests', and
    what the project's index knows, if there is one. No more than some that hold the names."""
    names = [target.short.encode() for target in targets]
    found: dict[str, ast.Module] = {}
    left = _BYTES
    for path in dict.fromkeys(_paths(project, baseline, tests, targets)):
        if len(found) >= _FILES:
            break
        try:
            code = read(path)
        except (DeskagentError, OSError):  # a file that can't be read tells nothing
            continue
        if len(code) <= left and any(name in code for name in names) and (tree := parse(code)) is not None:
            left -= len(code)
            found[path] = tree
    return found


def _paths(
    project: Path, baseline: Baseline, tests: Sequence[str], targets: Sequence[Target]
) -> Iterator[str]:
    yield from (target.path for target in targets)
    for test in tests:
        yield from (path for path in (test.partition("::")[0],) if path.endswith(".py"))
        yield from (
            path
            for path in sorted(baseline.coverage.get(test, {}))
            if path.endswith(".py") and not path.startswith(("/", ".."))
        )
    yield from _indexed(project, targets)


def _indexed(project: Path, targets: Sequence[Target]) -> Iterator[str]:
    """Files that call the targets by name, as far as the index is built; it is never built here."""
    from deskagent.repo.index import open_index

    try:
        with open_index(project) as index:
            for name in dict.fromkeys(target.short for target in targets):
                yield from (r.path for r in index.references(name) if r.call and r.path.endswith(".py"))
    except DeskagentError as error:
        _log.info("the index says nothing of callers: %s", error)
