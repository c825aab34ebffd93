"""A question that only the person can answer, in place: all of what it is about, and keys for the answers."""

from __future__ import annotations

import time
from typing import ClassVar

from textual import events, on
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from deskagent.cli.asked import WORDS
from ui.live.messages import Asked
from ui.log.inert import inert
from ui.widgets.diffs import diff

PATIENCE = 0.4
"""Seconds for which keys do nothing after a question came up: they were meant for something else."""


class QuestionView(Vertical):
    """Answers by a key, by the arrow keys and Enter, by a click, or in the person's own words."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "own_words", "In your own words", show=False),
        Binding("escape", "refuse", "No", show=False),
        Binding("pageup", "scroll(-1)", show=False),
        Binding("pagedown", "scroll(1)", show=False),
    ]

    class Answered(Message):
        def __init__(self, asked: Asked, answer: str) -> None:
            super().__init__()
            self.asked, self.answer = asked, answer

    def __init__(self, asked: Asked) -> None:
        super().__init__(classes="question")
        self.asked = asked
        self._gate = "no" in asked.choices
        self._keys = {
            WORDS[choice][0] if choice in WORDS else str(number): choice
            for number, choice in enumerate(asked.choices, 1)
        }
        self._shown = time.monotonic()

    def compose(self):
        question = self.asked.question
        yield Static(Content.styled(inert(question.text), "bold"), classes="title")
        if question.subject:
            with VerticalScroll(can_focus=False):
                yield Static(_subject(question.subject), classes="subject")
        if self._keys:
            yield OptionList(
                *(
                    Option(Content.assemble((f"{key}  ", "$text-accent bold"), inert(_says(choice))))
                    for key, choice in self._keys.items()
                )
            )
        yield Input(
            placeholder="no, and why…" if self._gate else "your own words",
            classes="own",
            select_on_focus=False,
        )

    def on_mount(self) -> None:
        self._shown = time.monotonic()

    def take_focus(self) -> None:
        self.query_one(OptionList if self._keys else Input).focus()

    def on_key(self, event: events.Key) -> None:
        if isinstance(self.screen.focused, Input):
            return
        if event.key in self._keys:
            event.stop()
            self._answer(self._keys[event.key])
        elif event.is_printable and event.character and not self._early():
            event.stop()
            own = self.query_one(Input)
            own.focus()
            own.value = event.character
            own.cursor_position = 1

    def action_own_words(self) -> None:
        self.query_one(Input).focus()

    def action_refuse(self) -> None:
        if isinstance(self.screen.focused, Input) and self._keys:
            self.query_one(OptionList).focus()
        else:
            self._answer("no" if self._gate else "")

    def action_scroll(self, pages: int) -> None:
        for scroll in self.query(VerticalScroll):
            scroll.scroll_relative(y=pages * max(1, scroll.size.height - 1), animate=False)

    @on(OptionList.OptionSelected)
    def _picked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self._answer(list(self._keys.values())[event.option_index])

    @on(Input.Submitted)
    def _written(self, event: Input.Submitted) -> None:
        event.stop()
        words = event.value.strip()
        if self._gate:
            self._answer(f"no: {words}" if words else "no")
        elif words:
            self._answer(words)

    def _early(self) -> bool:
        return time.monotonic() - self._shown < PATIENCE

    def _answer(self, answer: str) -> None:
        if not self._early():
            self.post_message(self.Answered(self.asked, answer))


def _says(choice: str) -> str:
    return WORDS[choice][1] if choice in WORDS else choice


def _subject(text: str) -> Content:
    shown = inert(text)
    return diff(shown) if shown.startswith("--- ") or "\n@@ -" in shown else Content(shown)
