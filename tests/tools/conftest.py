"""A project with files, and what tools work with there: changes go to the disk as the agent makes them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from deskagent.repo import apply
from deskagent.terminal.sandbox import Unconfined
from deskagent.terminal.types import Policy
from deskagent.tools.base import Context


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def context(project: Path) -> Context:
    def change(changes) -> str:
        for name in changes:
            (project / name).parent.mkdir(parents=True, exist_ok=True)
        apply.apply(project, changes)
        return ""

    return Context(
        project=project,
        call="call-1",
        sandbox=Unconfined(),
        policy=Policy(writable=(project,)),
        env={"PATH": os.environ["PATH"]},
        seen={},
        change=change,
        keep=lambda data: "",
    )


@pytest.fixture
def text() -> Callable[[object], str]:
    """The text of a result."""
    return lambda result: "".join(part.text for part in result.content)  # type: ignore[attr-defined]
