"""Packages that the tests need and that their interpreter doesn't have: no edit of the project mends that."""

from __future__ import annotations

import difflib
import re
import sys
from pathlib import Path

from deskagent.errors import UsageError
from deskagent.repair.command import TestCommand
from deskagent.repair.report import Printed
from deskagent.repo.walk import walk

_MISSING = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")


def refuse_missing_packages(project: Path, command: TestCommand, printed: Printed, text: str) -> None:
    """UsageError where no test could be imported because packages that aren't the project's are missing.

    A name that the project has, or that is a slip of one that is known, may be the very fault: it is no reason.
    """
    said = _MISSING.findall(text)
    if not said or printed.passed or len(printed.failing) > len(said):
        return
    if any("::" in result.id for result in printed.failing):
        return
    names = {name.partition(".")[0] for name in said}
    known = _own(project) | sys.stdlib_module_names
    if any(name in known or difflib.get_close_matches(name, known, 1, 0.8) for name in names):
        return
    python = command.interpreter or "the tests' interpreter"
    listed = ", ".join(f"`{name}`" for name in sorted(names))
    raise UsageError(
        f"The tests can't be imported: {python} has no {listed}, and the project has none either.",
        hint='Install what the tests need, or name an interpreter that has it: --test "path/to/python -m pytest …".',
    )


def _own(project: Path) -> set[str]:
    """Names by which the project's files and folders could be imported."""
    return {part.partition(".")[0] for path in walk(project).files for part in Path(path).parts}
