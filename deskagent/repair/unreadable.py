"""Python files of a project that Python itself can't read: said where they may be why its tests fail."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from deskagent.repair.places import is_foreign
from deskagent.repair.source import NoSourceText, SourceError, SourceFile
from deskagent.repair.types import Suspect, TestResult
from deskagent.repo.walk import walk

_COMPLAINT = re.compile(r"null bytes|codec can't decode|Non-UTF-8 code|unknown encoding|encoding problem")
_NAMED = 3
_MOST = 5000  # files


def no_source(project: Path, failing: Sequence[TestResult], suspects: Sequence[Suspect]) -> str:
    """What to tell a person of files that are no Python source, "" where none is or where it isn't the matter: a
    failing test complains of an encoding, or no place is suspected at all."""
    if suspects and not any(_COMPLAINT.search(result.message) for result in failing):
        return ""
    seen = walk(project)
    names = (*seen.files, *(name for name, _ in seen.skipped))  # what looks binary is among the latter
    paths = [path for path in names if path.endswith(".py") and not is_foreign(path)]
    found = [said for path in paths[:_MOST] if (said := _why(project, path))]
    more = [f"So are {len(found) - _NAMED} more files."] if len(found) > _NAMED else []
    return " ".join([f"{said}." for said in found[:_NAMED]] + more)


def _why(project: Path, path: str) -> str:
    try:
        SourceFile.read(project, path)
    except NoSourceText as error:
        return error.message
    except SourceError:
        pass  # a special or a huge file: Python doesn't complain of those in this way
    return ""
