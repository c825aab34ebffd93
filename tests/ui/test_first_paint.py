"""What the app is made of before it is on the screen: nothing that only a conversation needs."""

from __future__ import annotations

import subprocess
import sys

LATER = (
    "markdown_it",
    "msgspec",
    "pydantic",
    "pyte",
    "deskagent.agent.converse",
    "deskagent.providers",
    "deskagent.session.journal",
    "ui.log.fold",
    "ui.panes",
    "ui.widgets.markdown",
)


def test_what_conversations_need_is_not_imported_before_the_first_paint() -> None:
    code = "import sys, deskagent.cli.app, deskagent.cli.tui, ui.start; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "ui.app" in run.stdout.split()
    assert not set(run.stdout.split()) & set(LATER)
