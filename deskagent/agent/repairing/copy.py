"""A copy of the project that one model works in: files change there, commands run there, nothing else is touched."""

from __future__ import annotations

from pathlib import Path

from deskagent.agent.repairing.tree import Changed, Tree
from deskagent.repair.cold import copy_for
from deskagent.repair.command import TestCommand
from deskagent.repo import apply, beneath
from deskagent.repo.walk import walk
from deskagent.terminal.sandbox import Sandbox
from deskagent.tools.base import Changes


class Copy:
    """A context manager. Where commands see it, it stands at the project's own path if the sandbox can do that.

    Errors: as `make_scratch`.
    """

    def __init__(self, project: Path, command: TestCommand, sandbox: Sandbox) -> None:
        self.project, self.sandbox = project, sandbox
        self.scratch = copy_for(project, command, sandbox)
        self.root = self.scratch.root
        self._written: set[str] = set()
        self._tree = Tree.of(self.root, walk(project).files)

    def change(self, changes: Changes) -> str:
        """Writes files. Errors: as `repo.apply`."""
        for name, (before, _) in changes.items():
            if before is None:
                with beneath.folder(self.root, beneath.resolve(self.root, name)[:-1], create=True):
                    pass
        apply.apply(self.root, changes)
        self._written |= set(changes)
        return ""

    @property
    def changed(self) -> Changed:
        """What differs from the project as it was copied: its own files, and new ones that `change` wrote. What
        commands leave beside them isn't looked at."""
        return self._tree.changed(sorted(self._written))

    def __enter__(self) -> Copy:
        return self

    def __exit__(self, *exc: object) -> None:
        self.scratch.close()
