"""The repair tools of a conversation that works in the project itself: failing tests, suspects, verdicts on changes.

The tests are looked at when a tool first needs it, and workers stay for what follows. What they run is always the tree
of that look with the files in it that changed since.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deskagent.agent.repairing.tree import Tree
from deskagent.agent.sources import Sources
from deskagent.repair.types import Candidate, Verdict
from deskagent.tools.base import Context, ToolError
from deskagent.tools.bench import Look, Patch, awaited

if TYPE_CHECKING:
    from deskagent.repair.cold import ColdRun
    from deskagent.repair.command import TestCommand
    from deskagent.repair.verify import Verifier

_LOOK, _EXACT = 300.0, 1800.0
"""Seconds that looking at the tests, and the exact command, may take."""
_SIGNS = frozenset(
    (
        "tests",
        "test",
        "pyproject.toml",
        "setup.cfg",
        "setup.py",
        "tox.ini",
        "pytest.ini",
        "package.json",
        "go.mod",
    )
)


def has_tests(project: Path) -> bool:
    """Whether the names in the project's own folder speak of tests."""
    try:
        names = os.listdir(project)  # noqa: PTH208
    except OSError:
        return False
    return any(name in _SIGNS or name.startswith("test_") for name in names)


@dataclass
class _Looked:
    look: Look
    verifier: Verifier
    tree: Tree
    render: Sources


class Workbench:
    """A `tools.bench.Bench`. Its methods may be called from any thread; `close` ends its workers."""

    def __init__(self, project: Path) -> None:
        self._project = project
        self._lock = threading.Lock()
        self._commands: dict[str, TestCommand] = {}
        self._looked: _Looked | None = None

    def close(self) -> None:
        if self._looked is not None:
            self._looked.verifier.close()
            self._looked = None

    def command(self, test: str, context: Context) -> TestCommand:
        if not test and self._looked is not None:
            return self._looked.look.command
        if test not in self._commands:
            from deskagent.repair.command import detect, resolve

            env = dict(os.environ)
            found = resolve(test, self._project, env) if test else detect(self._project, env)
            if found is None:
                raise ToolError("No test command is known here. Name it by `test`, such as `pytest -q`.")
            self._commands[test] = found
        return self._commands[test]

    def look(self, test: str, words: str, context: Context, *, anew: bool = False) -> Look:
        with self._lock:
            command = self.command(test, context)
            found = self._looked
            same = found is not None and found.look.command.line == command.line
            if found is not None and same and not (anew and self._patch(found).files):
                return found.look
            self.close()
            self._looked = self._look(command, words, context)
            return self._looked.look

    def patch(self, context: Context) -> Patch:
        return self._patch(self._last)

    def judge(self, files: Mapping[str, bytes], note: str, context: Context) -> Verdict:
        return awaited(self._last.verifier.submit(files), context.cancel)

    def tried(self, candidate: Candidate, context: Context) -> Verdict:
        found = self._last
        return self.judge(found.render.render(candidate), candidate.note, context)

    def exact(self, test: str, context: Context) -> ColdRun:
        from deskagent.repair.cold import run_cold
        from deskagent.terminal.types import Limits

        return run_cold(
            self._project,
            self.command(test, context),
            sandbox=context.sandbox,
            limits=Limits(seconds=_EXACT),
            on_output=lambda data: context.say(data.decode("utf-8", "replace")),
            cancel=context.cancel,
        )

    @property
    def _last(self) -> _Looked:
        if self._looked is None:
            raise ToolError("The tests weren't looked at yet: call `localise` first.")
        return self._looked

    def _look(self, command: TestCommand, words: str, context: Context) -> _Looked:
        from deskagent.repair.localize import localize
        from deskagent.repair.verify import Verifier
        from deskagent.repo.walk import walk

        tree, sources = Tree.of(self._project, walk(self._project).files), Sources(self._project)
        verifier = Verifier(self._project, command, sandbox=context.sandbox)
        try:
            with _closed_by(context.cancel, verifier):
                baseline = verifier.baseline(seconds=_LOOK)
            if not baseline.failing:
                raise ToolError(f"Nothing fails: `{command.line}` passes as the files are now.")
            suspects = localize(self._project, baseline, request=words)
        except BaseException:
            verifier.close()
            if context.cancel.is_set():
                raise ToolError("Cancelled.") from None
            raise
        return _Looked(Look(command, baseline, suspects, sources.read, words), verifier, tree, sources)

    def _patch(self, found: _Looked) -> Patch:
        from deskagent.repair.places import is_test
        from deskagent.repo.walk import walk

        changed = found.tree.changed(walk(self._project).files)
        notes = [
            f"{name} was changed, and is a test: what passes now may say less."
            for name in changed.files
            if is_test(name)
        ]
        notes += [f"{name} is gone; this run still has it (`cold` hasn't)." for name in changed.gone]
        notes += [f"Not taken: {why}." for why in (changed.unread or {}).values()]
        return Patch(changed.files, tuple(notes))


@contextmanager
def _closed_by(cancel: threading.Event, verifier: Verifier) -> Iterator[None]:
    """Closes the verifier when the call is cancelled meanwhile."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.2):
            if cancel.is_set():
                verifier.close()
                return

    thread = threading.Thread(target=watch, name="cancel", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
