"""What a tool works with, where its sandbox and session don't matter."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from deskagent.terminal.sandbox import Unconfined
from deskagent.terminal.types import Policy
from deskagent.tools.base import Context


@pytest.fixture
def context_of() -> Callable[[Path], Context]:
    def make(project: Path) -> Context:
        env = {"PATH": os.environ["PATH"]}
        return Context(
            project, "call-1", Unconfined(), Policy(), env, {}, lambda changes: "", lambda data: ""
        )

    return make
