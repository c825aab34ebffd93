"""Questions that wait for the person, above the composer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Vertical

if TYPE_CHECKING:  # at run time with the first question
    from ui.live.messages import Asked
    from ui.widgets.question import QuestionView


class Questions(Vertical):
    """A view a question, in the order they came."""

    DEFAULT_CSS = "Questions { height: auto; }"

    def __init__(self) -> None:
        super().__init__()
        self._open: list[QuestionView] = []

    @property
    def open(self) -> bool:
        return bool(self._open)

    @property
    def first(self) -> QuestionView:
        """Only while some are open."""
        return self._open[0]

    async def ask(self, asked: Asked, *, focus: bool) -> None:
        from ui.widgets.question import QuestionView

        shown = QuestionView(asked)
        await self.mount(shown)
        self._open.append(shown)
        if focus:
            shown.take_focus()

    async def put_away(self, asked: Asked) -> bool:
        """Whether others are left; the first of them has the focus then."""
        for shown in [each for each in self._open if each.asked is asked]:
            self._open.remove(shown)
            await shown.remove()
        if self.open:
            self.first.take_focus()
        return self.open
