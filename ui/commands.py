"""What keys and commands of the app do, by the names of its actions."""

from __future__ import annotations

from textual.binding import Binding, BindingType

BINDINGS: list[BindingType] = [
    Binding("escape", "interrupt", "Interrupt; twice: hard", show=False),
    Binding("shift+tab", "next_mode", "Next mode", priority=True),
    Binding("ctrl+o", "unfold", "Unfold everything", priority=True),
    Binding("ctrl+g", "choose('session')", "Sessions", priority=True),
    Binding("ctrl+l", "choose('model')", "Models and thinking", priority=True),
    Binding("ctrl+r", "choose('again')", "Search what was said", priority=True),
    Binding("f1", "keys", "Keys", priority=True),
    Binding("alt+up", "take_back", "Change what waits", priority=True, show=False),
    Binding("ctrl+up", "call(-1)", "Call before", priority=True, show=False),
    Binding("ctrl+down", "call(1)", "Next call", priority=True, show=False),
    Binding("ctrl+b", "side", "Side panel", priority=True),
    Binding("pageup", "page(-1)", "Scroll up", priority=True, show=False),
    Binding("pagedown", "page(1)", "Scroll down", priority=True, show=False),
    Binding("ctrl+home", "first", "To the start", priority=True, show=False),
    Binding("ctrl+end", "last", "To the end", priority=True, show=False),
    Binding("ctrl+c", "stop_or_leave", "Clear, interrupt, leave", priority=True, show=False),
    Binding("ctrl+d", "leave_if_empty", "Leave", priority=True, show=False),
    Binding("ctrl+q", "leave", "Leave", priority=True),
]

COMMANDS: dict[str, tuple[str, str]] = {
    "help": ("all keys", "keys"),
    "sessions": ("this folder's sessions: resume, fork, export", "choose('session')"),
    "model": ("the model that goes on", "choose('model')"),
    "thinking": ("how much the model thinks", "choose('thinking')"),
    "rewind": ("go back to something you said", "choose('rewind')"),
    "history": ("search what was said before", "choose('again')"),
    "side": ("show or hide the side panel", "side"),
    "theme": ("dark or light", "theme"),
    "exit": ("leave", "leave"),
}
"""Commands of the app itself, behind a slash and in the palette: what each is, and its action."""


def own(text: str) -> str:
    """The name of the app's own command that the text is, "" for none."""
    name, _, words = text[1:].partition(" ")
    return name if text.startswith("/") and name in COMMANDS and not words.strip() else ""


OF_TRANSCRIPT = frozenset({"page", "first", "last", "call"})
OF_CONVERSATION = frozenset(
    (
        "interrupt",
        "next_mode",
        "unfold",
        "side",
        "page",
        "first",
        "last",
        "call",
        "choose",
        "keys",
        "take_back",
    )
)
"""Actions that say nothing while another screen lies over the conversation."""
