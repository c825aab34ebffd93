"""The app: a conversation's transcript, what the person writes, and what they are asked.

What it shows is folded from the session's log; what it knows beside that (a draft, what is unfolded) may be lost.
"""

from __future__ import annotations

import asyncio
import importlib
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, on
from textual.app import App, ComposeResult, SystemCommand
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen

from ui import commands, theme
from ui.live.signals import end_surely, heed
from ui.pictures.tray import Attached, Tray
from ui.widgets.completing import Completing, wanted
from ui.widgets.composer import Composer
from ui.widgets.questions import Questions
from ui.widgets.side import Side
from ui.widgets.status import StatusLine
from ui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from deskagent.agent.converse.work import Options
    from ui.following import Following
    from ui.live.conversation import Conversation
    from ui.log.facts import Facts
    from ui.log.fold import Fold
    from ui.widgets.question import QuestionView

_TWICE = 0.8
"""Seconds within which a key counts as pressed twice."""
_LEAVE = 12.0
"""Seconds that a conversation has to end when the person leaves."""
_NARROW = 100
"""Columns below which the side panel takes the whole width."""


class DeskApp(App[int]):
    """options: makes those of the session that is opened first, on another thread. check: raises what keeps a new one
    from being opened. What conversations need is imported once the app is on the screen."""

    CSS_PATH = "theme.tcss"
    TITLE = "deskagent"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = commands.BINDINGS

    def __init__(self, options: Callable[[], Options], check: Callable[[], object] = lambda: None) -> None:
        super().__init__()
        self._check, self._options = check, options
        for each in theme.THEMES:
            self.register_theme(each)
        self.theme = theme.chosen()
        self.following: Following | None = None
        self.leaving = False
        self.tray = Tray()
        self._before: list[str] = []
        self._escaped = self._stopped_at = 0.0
        self.completing = Completing()
        self.composer = Composer(self.completing)
        self.transcript, self.side = Transcript(), Side()
        self.questions, self.status = Questions(), StatusLine()

    async def _begin(self) -> None:
        """Opens the session that the app was started for."""
        module = await asyncio.to_thread(importlib.import_module, "ui.following")
        self.following = following = module.Following(self, self._check)
        before, self._before = self._before, []
        for text in before:
            following.send(text)
        await following.open(self._options)

    # what is open: nothing before the app is on the screen

    @property
    def conversation(self) -> Conversation | None:
        return self.following and self.following.conversation

    @property
    def session(self) -> str:
        """Its id, "" where none is open."""
        return self.following.session if self.following else ""

    @property
    def error(self) -> tuple[str, str] | None:
        return self.following and self.following.error

    @property
    def fold(self) -> Fold:
        return self._following.fold

    @property
    def facts(self) -> Facts:
        return self._following.facts

    @property
    def _following(self) -> Following:
        assert self.following is not None
        return self.following

    async def open(self, options: Callable[[], Options]) -> None:
        """Another session, or the same one again."""
        await self._following.open(options)

    def note(self, level: str, text: str) -> None:
        """Tells the person something that isn't in the log."""
        self._following.note(level, text)

    @property
    def _working(self) -> bool:
        return self.following is not None and self.following.working

    def compose(self) -> ComposeResult:
        with Horizontal(id="middle"):
            with Vertical(id="main"):
                yield self.transcript
                with Vertical(id="below"):
                    yield self.questions
                    yield self.completing
                    yield self.composer
            yield self.side
        yield self.status

    async def on_mount(self) -> None:
        self.composer.focus()
        self.status.doing("opening")
        heed(self._told_to_end)
        self.call_after_refresh(self._begin)

    def on_resize(self, event: events.Resize) -> None:
        self.screen.set_class(event.size.width < _NARROW, "-narrow")

    @property
    def busy(self) -> bool:
        """Whether something is being done or opened."""
        return bool(self.status.status.doing)

    # what the person does

    async def on_question_view_answered(self, event: QuestionView.Answered) -> None:
        event.asked.answer(event.answer)
        await self._following.put_away(event.asked)

    @on(Composer.Sent)
    def _sent(self, event: Composer.Sent) -> None:
        if not event.text:
            if self.following is not None and not self.following.working:
                self.following.send_next()
        elif event.queue and self.following is not None and self.following.working:
            self.following.queue(event.text, self._with(event.text))
        else:
            self.send(event.text, self._with(event.text))

    def _with(self, text: str) -> tuple[Attached, ...]:
        """The pictures that go with words that are sent now; with a command none do, and they stay."""
        if text.startswith(("/", "!")) or not self.session or self.error:
            return ()
        taken = self.tray.taken()
        self.on_pictures_changed()
        return taken

    @on(Composer.Pasting)
    async def _pasting(self) -> None:
        if (pictures := await self.side.pane("pictures")) is None:
            self.composer.action_paste()
        else:
            pictures.paste(self.composer.action_paste)

    @on(Composer.Dropped)
    async def _dropped(self, event: Composer.Dropped) -> None:
        if (pictures := await self.side.pane("pictures")) is None:
            self.composer.insert(f'@"{event.path}" ')
        else:
            pictures.attach_file(event.path)

    def on_pictures_changed(self) -> None:
        """Says below what is written how many pictures go with it."""
        count = len(self.tray.items)
        self.composer.border_subtitle = (
            f"{count} picture{'s' * (count > 1)} with it, Ctrl+B shows" if count else ""
        )
        self.side.fresh()

    def send(self, text: str, pictures: tuple[Attached, ...] = ()) -> None:
        """Does a command of the app's own; anything else goes to the conversation, once there is one."""
        self.call_later(self.transcript.show_end)
        if name := commands.own(text):
            self._own(name)
        elif self.following is None:
            self._before.append(text)
        else:
            self.following.send(text, pictures)

    @on(Composer.Moved)
    async def _complete(self) -> None:
        composer = self.composer
        first = composer.cursor_location[0] == 0
        asked = wanted(composer.before_cursor(), first) if composer.has_focus else None
        names: dict[str, str] = {}
        if asked is not None and (following := self.following) is not None:
            names = following.commands if asked.kind == "/" else await following.names()
        self.completing.offer(asked, names)

    def action_interrupt(self) -> None:
        """Leaves what has the focus; interrupts; where nothing runs, twice goes back to something said."""
        now = time.monotonic()
        if self.focused is not self.composer and not self.questions.open:
            self.composer.focus()
            return
        if not self._working:
            if now - self._escaped < _TWICE:
                self.action_choose("rewind")
            self._escaped = now
            return
        if now - self._stopped_at > _TWICE:
            self.status.doing("stopping")
        self._stopped_at = now
        if self.conversation is not None:
            self.conversation.interrupt()

    def action_take_back(self) -> None:
        """What waits, the last first, goes back to where it can be changed."""
        if self.following is not None and (text := self.following.take_back()):
            self.composer.put("\n".join(filter(None, (text, self.composer.text))))

    def action_choose(self, what: str) -> None:
        """Has the person pick something: a function of `ui.choosing`, by its name."""
        if self.session and self.conversation is not None:
            from ui import choosing

            self.run_worker(getattr(choosing, what)(self, self.conversation))

    def action_keys(self) -> None:
        from ui.screens.keys import Keys

        self.push_screen(Keys())

    def action_theme(self) -> None:
        """The other theme, from now on."""
        self.theme = next(each.name for each in theme.THEMES if each.name != self.theme)
        theme.keep(self.theme)

    def action_call(self, by: int) -> None:
        """To the call before or after the one that has the focus."""
        works = self.transcript.works()
        at = next((at for at, each in enumerate(works) if each is self.focused), len(works))
        if 0 <= at + by < len(works):
            works[at + by].focus()
        elif at + by >= len(works):
            self.composer.focus()

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        for name, (says, _) in commands.COMMANDS.items():
            yield SystemCommand(name.capitalize(), says, partial(self._own, name))

    def _own(self, name: str) -> None:
        """Does one of the app's own commands."""
        self.call_later(self.run_action, commands.COMMANDS[name][1])

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Over the conversation, only what leaves the app. A pane scrolls itself, and may have `takes_keys`."""
        if getattr(self.focused, "takes_keys", False):
            return False
        if action in commands.OF_TRANSCRIPT and self.side.has_focus_within:
            return False
        return len(self.screen_stack) < 2 or action not in commands.OF_CONVERSATION

    def action_next_mode(self) -> None:
        if self.conversation is not None:
            self.conversation.next_mode()

    def action_unfold(self) -> None:
        self.transcript.unfold_all()

    def action_side(self) -> None:
        opened = self.side.toggle()
        self.screen.set_class(opened, "-side")

    def action_page(self, pages: int) -> None:
        if self.questions.open and self.screen.focused is not self.composer:
            self.questions.first.action_scroll(pages)
            return
        transcript = self.transcript
        transcript.scroll_relative(y=pages * max(1, transcript.size.height - 2), animate=False)

    async def action_first(self) -> None:
        await self.transcript.show_start()

    async def action_last(self) -> None:
        await self.transcript.show_end()

    def action_stop_or_leave(self) -> None:
        """Copies what is selected; else clears what is written; else interrupts; else leaves at the second time."""
        if selected := self.screen.get_selected_text():
            self.copy_to_clipboard(selected)
            return
        now = time.monotonic()
        if self.composer.text:
            self.composer.put("")
        elif self._working:
            self.action_interrupt()
        elif now - self._escaped < 2 * _TWICE:
            self.action_leave()
        else:
            self._escaped = now
            self.notify("Ctrl+C again leaves.", timeout=2, markup=False)

    def action_leave_if_empty(self) -> None:
        if self.composer.text:
            self.composer.action_delete_right()
        else:
            self.action_leave()

    def action_leave(self) -> None:
        """Ends the session; a second time, without waiting for what runs."""
        if self.leaving or self.error is not None or self.conversation is None:
            self.exit(0)
            return
        self.leaving = True
        self.status.doing("leaving")
        self.conversation.close()
        self.set_timer(_LEAVE, partial(self.exit, 0))

    def _told_to_end(self, number: int) -> None:
        conversation = self.conversation
        if conversation is not None:
            conversation.close()
        end_surely(128 + number, lambda: conversation and conversation.join(_LEAVE))
        self.exit(128 + number)
