"""What is open in the app: a conversation, what is known of its session, and what comes of all that it tells.

Imported once the app is on the screen, with all that conversations need.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ui import commands
from ui.live.bridge import Bridge
from ui.live.conversation import Conversation
from ui.live.frames import Frames
from ui.live.messages import Asked, Ended, Leaving, Opened, Surroundings, Told, Withdrawn, Working
from ui.log.facts import Facts
from ui.log.fold import Fold
from ui.log.waiting import Waiting
from ui.panes import PANES
from ui.tour import TOUR
from ui.widgets.completing import files_of

if TYPE_CHECKING:
    from deskagent.agent.converse.work import Options
    from deskagent.session.talk import Queued
    from ui.app import DeskApp
    from ui.pictures.tray import Attached

LEAVE = 12.0
"""Seconds that a conversation has to end."""
_WAITED = """\
{many} of yours waited when this session was left, and still can be sent: Enter with nothing written sends the first, \
Alt+Up takes the last back to change it. They also go out when what you do next has ended."""


class Following:
    """Made on the app's thread. session: its id, "" until it is open. error: what ended the conversation, and what to
    do. working: something is being done."""

    def __init__(self, app: DeskApp, check: Callable[[], object]) -> None:
        self._app, self._check = app, check
        self.conversation: Conversation | None = None
        self.fold, self.facts = Fold(), Facts()
        self.session = ""
        self.error: tuple[str, str] | None = None
        self.working = False
        self.commands: dict[str, str] = {}
        self._options: Callable[[], Options]
        self._readers: dict[str, Any] = {}
        self._files: dict[str, str] | None = None
        self._early: list[str] = []
        self._waiting = Waiting()
        self._sent: set[str] = set()
        self._bridge = Bridge(lambda: None)
        self._frames = Frames(app, self._drain)

    async def open(self, options: Callable[[], Options]) -> None:
        """Closes the session, and opens another one, or the same one again."""
        self._app.status.doing("opening")
        self._options, self.session, self.error = options, "", None
        if (before := self.conversation) is not None:
            before.close()
            await asyncio.to_thread(before.join, LEAVE)
        self._bridge.taken()
        self.fold, self.facts, self._readers = Fold(), Facts(), {}
        await self._app.transcript.read(self.fold)
        self._bridge = Bridge(self._frames.wake)
        readers = {pane.id: pane.reader for pane in PANES}
        made = self.conversation = Conversation(options, self._bridge, readers, self._check, self._app.tray)
        made.start()

    def send(self, text: str, pictures: tuple[Attached, ...] = ()) -> None:
        """To the conversation, once one is open: words for the model, a `/command` or a `!line`. pictures: go with
        words."""
        conversation = self.conversation
        if not self.session or self.error or conversation is None:
            self._early.append(text)
            if self.error:
                self._app.run_worker(self.open(self._options))
        else:
            conversation.send(text, pictures)

    def queue(self, text: str, pictures: tuple[Attached, ...]) -> None:
        """Sends it when what is being done has ended. It is kept with the session."""
        if self.conversation is not None:
            self.conversation.wait(text, pictures)

    @property
    def _left(self) -> list[Queued]:
        """What waits and wasn't handed on yet."""
        return [each for id, each in self._waiting.said.items() if id not in self._sent]

    def send_next(self) -> None:
        """The first that waits, if any does."""
        if self._left and self.conversation is not None:
            first = self._left[0]
            self._sent.add(first.id)
            if commands.own(first.text):
                self.conversation.take_back(first)
                self._app.send(first.text)
            else:
                self.conversation.send(first.text, waited=first)

    def take_back(self) -> str:
        """The words of the last that waits, which doesn't any more; "" for none."""
        if not self._left or self.conversation is None:
            return ""
        last = self._left[-1]
        self._sent.add(last.id)
        self.conversation.take_back(last)
        if last.beside:
            self.note("info", "The pictures that went with it have to be attached again.")
        return last.text

    def note(self, level: str, text: str) -> None:
        """Tells the person something that isn't in the log."""
        self.fold.note(level, text)
        self._app.call_later(self._drain)

    async def names(self) -> dict[str, str]:
        """The names of the project's files; looked for again after whatever was done."""
        if self._files is None and self.conversation is not None:
            project = self.conversation.project
            self._files = dict.fromkeys((await asyncio.to_thread(files_of, project)), "")
        return self._files or {}

    # what happens

    async def _drain(self) -> None:
        app = self._app
        if not app.status.is_attached:  # the app is ending
            return
        kept: list[Any] = []
        for message in self._bridge.taken():
            if handle := _HANDLERS.get(type(message)):
                await handle(self, message)
            elif callable(message):
                message()
            else:
                kept.append(message)
                for reader in (self.fold, self.facts, self._waiting, *self._readers.values()):
                    reader.take(message)
        await app.transcript.fresh()
        app.status.status.queued = len(self._left)
        app.status.refresh()
        if kept:
            app.side.fresh()

    async def _opened(self, opened: Opened) -> None:
        app = self._app
        self.session = opened.session
        self.fold, self.facts, self._readers = opened.fold, opened.facts, dict(opened.readers)
        self.commands = {**opened.commands, **{name: says for name, (says, _) in commands.COMMANDS.items()}}
        app.status.status.facts = opened.facts
        app.composer.remember(opened.said)
        await app.transcript.read(self.fold)
        if self.conversation is not None:
            await app.side.fill(self._readers, self.conversation)
        app.status.doing("")
        self._waiting, self._sent = opened.waiting, set()
        if count := len(self._left):
            self.fold.note("info", _WAITED.format(many="A message" if count == 1 else f"{count} messages"))
        early, self._early = self._early, []
        for text in early:
            self.send(text)

    async def _surroundings(self, found: Surroundings) -> None:
        status = self._app.status.status
        status.context, status.rung, status.branch = found.context, found.rung, found.branch

    async def _worked(self, working: Working) -> None:
        status = self._app.status
        self.working, self._files = working.on, None
        status.doing("working" if working.on else "")
        if working.stopped:
            self.fold.note("info", "interrupted; what you say next goes on from here")
        elif not working.on:
            self.send_next()

    async def _told(self, told: Told) -> None:
        self.fold.note(told.level, told.text)

    async def _leave_now(self, leaving: Leaving) -> None:
        self._app.action_leave()

    async def _ended(self, ended: Ended) -> None:
        self.working = False
        self._app.status.doing("")
        if self._app.leaving:
            self._app.exit(0)
        elif ended.error:
            self.error = (ended.error, ended.hint)
            if ended.unready:
                self.fold.tell(TOUR)
            self.fold.note("error", "\n".join(filter(None, self.error)))

    async def _question(self, asked: Asked) -> None:
        await self._app.questions.ask(asked, focus=not self._app.composer.text.strip())
        self._app.status.doing("waiting for you")

    async def _withdrawn(self, message: Withdrawn) -> None:
        await self.put_away(message.asked)

    async def put_away(self, asked: Asked) -> None:
        """A question that is answered, or that nobody asks any more."""
        if not await self._app.questions.put_away(asked):
            self._app.composer.focus()
            self._app.status.doing("working" if self.working else "")


_HANDLERS: dict[type, Callable[[Following, Any], Any]] = {
    Opened: Following._opened,
    Surroundings: Following._surroundings,
    Working: Following._worked,
    Told: Following._told,
    Leaving: Following._leave_now,
    Ended: Following._ended,
    Asked: Following._question,
    Withdrawn: Following._withdrawn,
}
