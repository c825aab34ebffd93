"""Opens the app, and leaves the terminal as it was."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from ui.app import DeskApp
from ui.live.signals import end_with_input

if TYPE_CHECKING:
    from deskagent.agent.converse.work import Options


def start(options: Callable[[], Options], check: Callable[[], object]) -> tuple[int, str]:
    """The exit code, and the session's id, "" where none was opened. options: makes those of the session. check: raises
    what keeps a new session from being begun, such as that no model is set up."""
    if "TEXTUAL_DRIVER" in os.environ:
        end_with_input()
    app = DeskApp(options, check)
    code = app.run()
    if app.conversation is not None:
        app.conversation.close()
        app.conversation.join(2)
    return code if code is not None else app.return_code or 0, app.session
