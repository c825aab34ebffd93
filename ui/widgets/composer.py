"""Where the person writes: Enter sends, long pastes fold, what was sent before comes back by the arrow keys."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widgets import TextArea

from deskagent.terminal.text import printable
from ui.pictures.dropped import picture_file
from ui.widgets.completing import Completing

_LINES, _LETTERS = 8, 1200
"""A paste of more than this is folded."""
_STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_FOLDED = re.compile(r"\[pasted #(\d+): [^\]\n]*\]")


class Composer(TextArea):
    """completing: what is offered where the cursor is. said: what was sent before, the latest last."""

    class Sent(Message):
        """text: "" where nothing is written. queue: it waits until what is being done has ended."""

        def __init__(self, text: str, *, queue: bool = False) -> None:
            super().__init__()
            self.text, self.queue = text, queue

    class Pasting(Message):
        """What is on the clipboard is to be attached where it is a picture, else pasted."""

    class Dropped(Message):
        """A picture file was dropped on the terminal."""

        def __init__(self, path: Path) -> None:
            super().__init__()
            self.path = path

    class Moved(Message):
        """The cursor or the text before it is another."""

    def __init__(self, completing: Completing) -> None:
        super().__init__(id="composer", soft_wrap=True, show_line_numbers=False, tab_behavior="focus")
        self._completing = completing
        self.cursor_blink = False
        self.highlight_cursor_line = False
        self.placeholder = "Say what is to be done"
        self.said: list[str] = []
        self._at = 0
        self._draft = ""
        self._pasted: list[str] = []

    def remember(self, said: Iterable[str]) -> None:
        self.said = list(said)
        self._at = len(self.said)

    def taken(self) -> str:
        """What is written, with pastes unfolded; the composer is empty from now on."""
        text = _FOLDED.sub(self._unfolded, self.text)
        self.put("")
        self._pasted.clear()
        return text

    def put(self, text: str) -> None:
        """Writes something in place of what stands there. What would steer the terminal is made visible, so that what
        is sent is what is seen."""
        self.text = _seen(text)
        self.move_cursor(self.document.end)

    def sent(self, text: str) -> None:
        """It comes back by the arrow keys."""
        if text.strip() and (not self.said or self.said[-1] != text):
            self.said.append(text)
        self._at, self._draft = len(self.said), ""

    def before_cursor(self) -> str:
        """The text of the line up to the cursor."""
        row, column = self.cursor_location
        return self.document.get_line(row)[:column]

    def action_send(self) -> None:
        picked = self._completing.picked()
        if picked is not None and picked[1].strip() != self.text.strip():
            self.action_complete()
            if picked[0].startswith("@"):
                return
        self._send(queue=False)

    def action_complete(self) -> None:
        if (picked := self._completing.picked()) is None:
            self.screen.focus_next()
            return
        typed, whole = picked
        row, column = self.cursor_location
        self.replace(whole, (row, column - len(typed)), (row, column))
        self._completing.close()

    def action_queue(self) -> None:
        self._send(queue=True)

    def _send(self, *, queue: bool) -> None:
        text = self.taken() if self.text.strip() else ""
        self.sent(text)
        self.post_message(self.Sent(text, queue=queue))

    def action_newline(self) -> None:
        self.insert("\n")

    def action_before(self) -> None:
        if self._completing.active:
            self._completing.move(-1)
        elif not self.cursor_at_first_line:
            self.action_cursor_up()
        elif self._at > 0:
            if self._at == len(self.said):
                self._draft = self.text
            self._at -= 1
            self.put(self.said[self._at])

    def action_after(self) -> None:
        if self._completing.active:
            self._completing.move(1)
        elif not self.cursor_at_last_line:
            self.action_cursor_down()
        elif self._at < len(self.said):
            self._at += 1
            self.put(self._draft if self._at == len(self.said) else self.said[self._at])

    def action_paste_any(self) -> None:
        self.post_message(self.Pasting())

    async def _on_paste(self, event: events.Paste) -> None:
        # Some terminals paste nothing where a picture is on the clipboard, and a dropped file as its path.
        dropped = picture_file(event.text) if event.text else None
        if dropped is not None or not event.text:
            event.prevent_default()
            event.stop()
            self.post_message(self.Pasting() if dropped is None else self.Dropped(dropped))
            return
        lines = event.text.count("\n") + 1
        if lines <= _LINES and len(event.text) <= _LETTERS:
            event.text = _seen(event.text)
            return  # the text area pastes it, whose handler is called after this one
        event.prevent_default()
        event.stop()
        self._pasted.append(event.text)
        size = f"{lines} lines" if lines > 1 else f"{len(event.text)} characters"
        self.insert(f"[pasted #{len(self._pasted)}: {size}]")

    async def _on_key(self, event: events.Key) -> None:
        """Keys with a meaning here are done in turn with the letters before them. As bindings of priority they would
        overtake letters that were typed while the app was busy."""
        if do := next((_KEYS[name] for name in event.aliases if name in _KEYS), None):
            event.stop()
            event.prevent_default()
            do(self)

    def render_line(self, y: int) -> Strip:
        # The text area can't wrap its placeholder to no columns, which it has while the side panel hides it.
        return super().render_line(y) if self.content_size.width > 0 else Strip.blank(self.size.width)

    def key_escape(self, event: events.Key) -> None:
        if self._completing.active:
            event.stop()
            self._completing.close()

    def _unfolded(self, found: re.Match[str]) -> str:
        number = int(found[1])
        return self._pasted[number - 1] if 0 < number <= len(self._pasted) else found[0]

    def _watch_selection(self, previous_selection, selection) -> None:  # type: ignore[no-untyped-def]
        super()._watch_selection(previous_selection, selection)
        if self.is_mounted:
            self.post_message(self.Moved())


def _seen(text: str) -> str:
    """The text with controls and changes of direction made visible. Joiners of letters and emoji are left: they are
    part of what people write."""
    return _STEERS.sub(lambda found: printable(found[0]), text)


_KEYS: dict[str, Callable[[Composer], None]] = {
    "enter": Composer.action_send,
    "shift+enter": Composer.action_newline,
    "ctrl+j": Composer.action_newline,
    "alt+enter": Composer.action_queue,  # which many terminals send as Enter alone
    "alt+q": Composer.action_queue,
    "ctrl+v": Composer.action_paste_any,
    "tab": Composer.action_complete,
    "up": Composer.action_before,
    "down": Composer.action_after,
}
