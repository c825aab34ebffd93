"""All keys on one screen."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

KEYS: tuple[tuple[str, str, str], ...] = (
    ("Write", "Enter", "send; while the model works, it sees this before its next step"),
    ("Write", "Alt+Q, Alt+Enter", "send when it is done; Alt+Up takes it back"),
    ("Write", "Shift+Enter, Ctrl+J", "new line"),
    ("Write", "Up, Down", "what was sent before"),
    ("Write", "Ctrl+R", "search what was sent before"),
    ("Write", "@, /, !", "a file, a command, a shell line; Tab completes"),
    ("Write", "Ctrl+V", "paste, also a picture"),
    ("Steer", "Esc", "interrupt; twice: at once"),
    ("Steer", "Esc Esc", "where nothing runs: go back to something you said"),
    ("Steer", "Shift+Tab", "next mode: plan, ask, auto"),
    ("Steer", "y s a n", "answer a question: once, session, always, no; or type why not"),
    ("Look", "PgUp, PgDn", "scroll; Ctrl+Home and Ctrl+End go to the ends"),
    ("Look", "Ctrl+Up, Ctrl+Down", "from call to call; Enter unfolds it, Esc leaves"),
    ("Look", "Ctrl+O", "unfold or fold everything"),
    ("Look", "Ctrl+B", "side panel"),
    ("Go", "Ctrl+G", "sessions: resume, fork, export"),
    ("Go", "Ctrl+L", "models and thinking"),
    ("Go", "Ctrl+P", "all commands"),
    ("Go", "Ctrl+C", "copy, clear, interrupt; twice: leave"),
    ("Go", "Ctrl+D, Ctrl+Q", "leave"),
)


class Keys(ModalScreen[None]):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,f1,q,enter", "dismiss(None)", show=False)]

    def compose(self) -> ComposeResult:
        rows: list[Content] = []
        before = ""
        for group, key, says in KEYS:
            if group != before:
                rows += [Content(""), Content.styled(group, "bold $primary")] if before else []
                rows += [] if before else [Content.styled(group, "bold $primary")]
                before = group
            rows.append(Content.assemble((f"{key:<22}", "$accent"), (says, "$foreground")))
        with VerticalScroll():
            yield Static(Content("\n").join(rows), markup=False)
