"""Modules that ran before any test did: their data can be wrong, and no test's coverage shows it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from deskagent.repair.source import SourceError, SourceFile
from deskagent.repair.types import Baseline

_GIVEN = re.compile(r"^[ \t]*([^\W\d]\w*)[ \t]*(?::[^=\n]+)?=(?!=)", re.MULTILINE)
_LOOKED_AT = 500  # files


def data_modules(
    project: Path,
    baseline: Baseline,
    names: Collection[str],
    known: Iterable[SourceFile],
    allowed: Callable[[str], bool],
) -> list[tuple[SourceFile, bool]]:
    """Files beside the `known` ones that ran at import and give one of `names` a value; whether a known file speaks
    of the module, so that it is likely read from there."""
    texts = {source.path: source.text for source in known}
    ran = (path for path in sorted(baseline.coverage.get("", ())) if path not in texts and allowed(path))
    words = {word for text in texts.values() for word in re.findall(r"[^\W\d]\w*", text)}
    found = []
    for path in list(ran)[:_LOOKED_AT]:
        try:
            source = SourceFile.read(project, path)
        except SourceError:
            continue
        if any(name in names for name in _GIVEN.findall(source.text)):
            module = Path(path).parent.name if path.endswith("__init__.py") else Path(path).stem
            found.append((source, module in words))
    return found
