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
from ui.live.bridge import Bridge
from ui.live.frames import Frames
from ui.live.messages import Asked, Ended, Leaving, Opened, Surroundings, Told, Withdrawn, Working
from ui.live.signals import end_surely, heed
from ui.log.facts import Facts
from ui.log.fold import Fold
from ui.panes import PANES
from ui.screens.keys import Keys
from ui.tour import TOUR
from ui.widgets.completing import Completing, files_of, wanted
from ui.widgets.composer import Composer
from ui.widgets.question import QuestionView
from ui.widgets.questions import Questions
from ui.widgets.side import Side
from ui.widgets.status import StatusLine
from ui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from deskagent.agent.converse.work import Options
    from ui.live.conversation import Conversation

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
        self._check = check
        for each in theme.THEMES:
            self.register_theme(each)
        self.theme = theme.chosen()
        self._options = options
        self.conversation: Conversation | None = None
        self.facts = Facts()
        self.fold = Fold()
        self.session = ""
        self.error: tuple[str, str] | None = None
        self._readers: dict[str, Any] = {}
        self._waiting: list[str] = []
        self._queued: list[str] = []
        self._working = self._leaving = False
        self._escaped = self._stopped_at = 0.0
        self.commands: dict[str, str] = {}
        self._files: dict[str, str] | None = None
        self.completing = Completing()
        self.composer = Composer(self.completing)
        self.transcript, self.side = Transcript(), Side()
        self._questions, self._status = Questions(), StatusLine()
        self._bridge = Bridge(lambda: None)
        self._frames: Frames | None = None

    async def _begin(self) -> None:
        """Begins a conversation, which tells when it has opened its session."""
        module = await asyncio.to_thread(importlib.import_module, "ui.live.conversation")
        if self._frames is None:
            self._frames = Frames(self, self._drain)
        self._bridge = Bridge(self._frames.wake)
        readers = {pane.id: pane.reader for pane in PANES}
        made = self.conversation = module.Conversation(self._options, self._bridge, readers, self._check)
        made.start()

    def compose(self) -> ComposeResult:
        with Horizontal(id="middle"):
            with Vertical(id="main"):
                yield self.transcript
                with Vertical(id="below"):
                    yield self._questions
                    yield self.completing
                    yield self.composer
            yield self.side
        yield self._status

    async def on_mount(self) -> None:
        self.composer.focus()
        await self.transcript.read(self.fold)
        self._status.doing("opening")
        heed(self._told_to_end)
        self.call_after_refresh(self._begin)

    def on_resize(self, event: events.Resize) -> None:
        self.screen.set_class(event.size.width < _NARROW, "-narrow")

    @property
    def busy(self) -> bool:
        """Whether something is being done or opened."""
        return bool(self._status.status.doing)

    # what happens

    async def _drain(self) -> None:
        if not self._status.is_attached:  # the app is ending
            return
        kept: list[Any] = []
        for message in self._bridge.taken():
            if handle := _HANDLERS.get(type(message)):
                await handle(self, message)
            elif callable(message):
                message()
            else:
                kept.append(message)
                for reader in (self.fold, self.facts, *self._readers.values()):
                    reader.take(message)
        await self.transcript.fresh()
        self._status.refresh()
        if kept:
            self.side.fresh()

    async def _opened(self, opened: Opened) -> None:
        self.session = opened.session
        self.fold, self.facts, self._readers = opened.fold, opened.facts, dict(opened.readers)
        self.commands = {**opened.commands, **{name: says for name, (says, _) in commands.COMMANDS.items()}}
        self._status.status.facts = opened.facts
        self.composer.remember(opened.said)
        await self.transcript.read(self.fold)
        if self.conversation is not None:
            await self.side.fill(self._readers, self.conversation)
        self._status.doing("")
        waiting, self._waiting = self._waiting, []
        for text in waiting:
            self._send(text)

    async def _surroundings(self, found: Surroundings) -> None:
        status = self._status.status
        status.context, status.rung, status.branch = found.context, found.rung, found.branch

    async def _worked(self, working: Working) -> None:
        self._working, self._files = working.on, None
        self._status.doing("working" if working.on else "")
        if working.stopped:
            self.fold.note("info", "interrupted; what you say next goes on from here")
        elif not working.on and self._queued:
            self._send(self._queued.pop(0))
            self._status.status.queued = len(self._queued)

    async def _told(self, told: Told) -> None:
        self.fold.note(told.level, told.text)

    async def _leave_now(self, leaving: Leaving) -> None:
        self.action_leave()

    async def _ended(self, ended: Ended) -> None:
        self._working = False
        self._status.doing("")
        if self._leaving:
            self.exit(0)
        elif ended.error:
            self.error = (ended.error, ended.hint)
            if ended.unready:
                self.fold.tell(TOUR)
            self.fold.note("error", "\n".join(filter(None, self.error)))

    async def _question(self, asked: Asked) -> None:
        await self._questions.ask(asked, focus=not self.composer.text.strip())
        self._status.doing("waiting for you")

    async def _withdrawn(self, message: Withdrawn) -> None:
        await self._put_away(message.asked)

    @on(QuestionView.Answered)
    async def _answered(self, event: QuestionView.Answered) -> None:
        event.asked.answer(event.answer)
        await self._put_away(event.asked)

    async def _put_away(self, asked: Asked) -> None:
        if not await self._questions.put_away(asked):
            self.composer.focus()
            self._status.doing("working" if self._working else "")

    # what the person does

    @on(Composer.Sent)
    def _sent(self, event: Composer.Sent) -> None:
        if event.queue and self._working:
            self._queued.append(event.text)
            self._status.status.queued = len(self._queued)
            self._status.refresh()
            return
        self._send(event.text)

    def _send(self, text: str) -> None:
        conversation = self.conversation
        self.call_later(self.transcript.show_end)
        name, _, words = text[1:].partition(" ")
        if text.startswith("/") and name in commands.COMMANDS and not words.strip():
            self._own(name)
        elif not self.session or self.error or conversation is None:
            self._waiting.append(text)
            if self.error:
                self.run_worker(self.open(self._options))
        elif text.startswith("/"):
            conversation.slash(text)
        elif text.startswith("!"):
            conversation.shell(text[1:])
        else:
            conversation.say(text)

    async def open(self, options: Callable[[], Options]) -> None:
        """Closes the session, and opens another one, or the same one again."""
        self._status.doing("opening")
        self._options, self.session, self.error = options, "", None
        if (before := self.conversation) is not None:
            before.close()
            await asyncio.to_thread(before.join, _LEAVE)
        self._bridge.taken()
        self.fold, self.facts, self._readers = Fold(), Facts(), {}
        await self.transcript.read(self.fold)
        await self._begin()

    def note(self, level: str, text: str) -> None:
        """Tells the person something that isn't in the log."""
        self.fold.note(level, text)
        self.call_later(self._drain)

    @on(Composer.Moved)
    async def _complete(self) -> None:
        composer = self.composer
        first = composer.cursor_location[0] == 0
        asked = wanted(composer.before_cursor(), first) if composer.has_focus else None
        if asked is not None and asked.kind == "@" and self._files is None and self.conversation is not None:
            project = self.conversation.project
            self._files = dict.fromkeys((await asyncio.to_thread(files_of, project)), "")
        self.completing.offer(asked, self.commands if asked and asked.kind == "/" else self._files or {})

    def action_interrupt(self) -> None:
        """Leaves what has the focus; interrupts; where nothing runs, twice goes back to something said."""
        now = time.monotonic()
        if self.focused is not self.composer and not self._questions.open:
            self.composer.focus()
            return
        if not self._working:
            if now - self._escaped < _TWICE:
                self.action_choose("rewind")
            self._escaped = now
            return
        if now - self._stopped_at > _TWICE:
            self._status.doing("stopping")
        self._stopped_at = now
        if self.conversation is not None:
            self.conversation.interrupt()

    def action_choose(self, what: str) -> None:
        """Has the person pick something: a function of `ui.choosing`, by its name."""
        if self.session and self.conversation is not None:
            from ui import choosing

            self.run_worker(getattr(choosing, what)(self, self.conversation))

    def action_keys(self) -> None:
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
        if self._questions.open and self.screen.focused is not self.composer:
            self._questions.first.action_scroll(pages)
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
        if self._leaving or self.error is not None or self.conversation is None:
            self.exit(0)
            return
        self._leaving = True
        self._status.doing("leaving")
        self.conversation.close()
        self.set_timer(_LEAVE, partial(self.exit, 0))

    def _told_to_end(self, number: int) -> None:
        conversation = self.conversation
        if conversation is not None:
            conversation.close()
        end_surely(128 + number, lambda: conversation and conversation.join(_LEAVE))
        self.exit(128 + number)


_HANDLERS: dict[type, Callable[[DeskApp, Any], Any]] = {
    Opened: DeskApp._opened,
    Surroundings: DeskApp._surroundings,
    Working: DeskApp._worked,
    Told: DeskApp._told,
    Leaving: DeskApp._leave_now,
    Ended: DeskApp._ended,
    Asked: DeskApp._question,
    Withdrawn: DeskApp._withdrawn,
}
