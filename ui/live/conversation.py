"""A conversation on a thread of its own, with an event loop of its own, that does what the app sends it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from deskagent.agent.converse.talk import Talk
from deskagent.agent.converse.work import Options, at_work
from deskagent.agent.given.commands import commands, expanded
from deskagent.agent.given.found import Given
from deskagent.agent.loop import State
from deskagent.agent.permissions import Mode, is_trusted
from deskagent.cli.pictures import sent, shown
from deskagent.cli.said import said
from deskagent.cli.shelled import shelled
from deskagent.cli.slash import COMMANDS, COMPACTED, Leave, command
from deskagent.errors import DeskagentError
from deskagent.messages import Part
from deskagent.repo import git
from deskagent.session import events
from deskagent.session.event import Event
from deskagent.session.talk import Queued, Unqueued
from ui.live.bridge import Bridge
from ui.live.messages import Ended, Leaving, Opened, Surroundings, Told, Working
from ui.log.facts import Facts
from ui.log.fold import Fold
from ui.log.waiting import Waiting
from ui.pictures.tray import Attached, Tray

T = TypeVar("T")
_log = logging.getLogger(__name__)
_MODES = tuple(mode for mode in Mode if mode is not Mode.FULL)
"""The modes that one key goes through; `full` has to be asked for by name."""


class Conversation:
    """options: makes those of the session, on this thread. bridge: hears of everything. readers: makes those of the
    panes, by their ids. check: raises what keeps a new session from being begun. tray: see panes.Session.

    The methods may be called on any thread and return at once. What is sent is done one after the other, but for what
    is said, the mode and an interrupt, which also reach a conversation at work."""

    def __init__(
        self,
        options: Callable[[], Options],
        bridge: Bridge,
        readers: Mapping[str, Callable[[], Any]] | None = None,
        check: Callable[[], object] = lambda: None,
        tray: Tray | None = None,
    ) -> None:
        self._check = check
        self.tray = tray or Tray()
        self._make, self._bridge, self._makers = options, bridge, readers or {}
        self._thread = threading.Thread(target=self._run, name="conversation", daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._todo: asyncio.Queue[Callable[[], Awaitable[None]] | None] = asyncio.Queue()
        self._task: asyncio.Future[Any] | None = None
        self._cancel = threading.Event()
        self._stopped = self._closing = self._turning = False
        self._own: Mapping[str, Given] = {}
        self.talk: Talk
        self.options: Options
        self.project = Path()

    def start(self) -> None:
        self._thread.start()

    def join(self, seconds: float) -> bool:
        """Whether it has ended by then."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    # what the app sends

    def send(self, text: str, pictures: tuple[Attached, ...] = (), waited: Queued | None = None) -> None:
        """Words for the model, of which a conversation at work hears before its next request; a `/command` or a
        `!line`. pictures: go with words. waited: it did until now."""
        if not text.startswith(("/", "!")):
            self._post(partial(self._said, text, pictures, waited))
            return
        if waited:  # it is better lost than run twice
            self.take_back(waited)
        self._queue(partial(self._slash, text) if text.startswith("/") else partial(self._shell, text[1:]))

    def wait(self, text: str, pictures: tuple[Attached, ...] = ()) -> None:
        """Keeps something with the session that is to be sent once what is being done has ended."""

        def event() -> Event:
            return Queued(self.talk.recorder.new_id("turn"), text, self._beside(pictures))

        self._post(partial(self._keep, event, text))

    def take_back(self, waited: Queued) -> None:
        """It waits no longer."""
        self._post(partial(self._keep, lambda: Unqueued(waited.id), waited.text))

    def later(self, work: Callable[[Talk], Any], then: Callable[[Any], None] = lambda result: None) -> None:
        """As panes.Session."""
        self._queue(partial(self._done, work, then))

    def next_mode(self) -> None:
        self._post(self._next_mode)

    def interrupt(self) -> None:
        """Ends what is being done; a second time, doesn't wait for tools that are slow to end."""
        self._cancel.set()
        self._bridge.release()
        self._post(self._interrupt)

    def close(self) -> None:
        """Interrupts, and ends the session."""
        self._closing = True
        self.interrupt()
        self._queue(None)

    # its own thread

    def _post(self, work: Callable[[], Any]) -> None:
        """On the conversation's loop, also while something is being done. Nothing where it has ended."""
        if (loop := self._loop) is not None:
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(work)

    def _queue(self, work: Callable[[], Awaitable[None]] | None) -> None:
        self._post(partial(self._todo.put_nowait, work))

    def _run(self) -> None:
        ended, ready = Ended(), False
        try:
            self.options = self._make()
            if self.options.session is None:
                self._check()
            ready = True
            with at_work(self.options, self._bridge) as talk:
                self.talk = talk
                try:
                    asyncio.run(self._serve())
                finally:
                    talk.recorder.emit(events.SessionEnded(status="left", exit_code=0))
        except DeskagentError as error:
            ended = Ended(error.message, error.hint, unready=not ready)
        except BaseException as error:
            _log.exception("the conversation ended")
            ended = Ended(f"{type(error).__name__}: {error}", "This is a fault of deskagent.")
        self._bridge.put(ended)

    def _opened(self, talk: Talk) -> Opened:
        """Reads the session so far; what comes from here on is heard of by the bridge."""
        fold, facts, waiting = Fold(), Facts(), Waiting()
        readers = {name: make() for name, make in self._makers.items()}
        words: list[str] = []
        for record in talk.recorder.journal.read():
            for reader in (fold, facts, waiting, *readers.values()):
                reader.take(record.event)
            if isinstance(record.event, events.Request) and record.event.text.strip():
                words.append(record.event.text)
        self._bridge.open()
        self.project = talk.hands.context("").project
        trusted = is_trusted(self.project)
        self._own = commands(self.project, trusted=trusted, warn=self._warn, taken=COMMANDS)
        own = {name: given.says for name, given in self._own.items()}
        return Opened(
            session=talk.recorder.journal.id,
            project=self.project,
            fold=fold,
            facts=facts,
            waiting=waiting,
            readers=readers,
            said=tuple(words),
            commands={**_SLASHES, **own},
        )

    def _warn(self, text: str) -> None:
        self._bridge.put(Told("warning", text))

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._bridge.put(await asyncio.to_thread(self._opened, self.talk))
        await asyncio.to_thread(self._look)
        while not self._closing and (work := await self._todo.get()) is not None:
            self._stopped = False
            self._cancel.clear()
            self._task = asyncio.ensure_future(work())
            self._bridge.put(Working(True))
            try:
                await self._task
            except asyncio.CancelledError:
                pass
            except Leave:
                self._bridge.put(Leaving())
            except DeskagentError as error:
                self._bridge.put(Told("error", str(error)))
            except Exception as error:
                _log.exception("work of the conversation failed")
                self._bridge.put(
                    Told("error", f"{type(error).__name__}: {error}\nThis is a fault of deskagent.")
                )
            finally:
                self._task, self._turning = None, False
            await asyncio.to_thread(self._look)
            self._bridge.put(Working(False, self._stopped))
        self._loop = None

    def _keep(self, event: Callable[[], Event], about: str) -> None:
        """Where it can't be kept, the person is told, with their words: those would be gone else."""
        try:
            self.talk.recorder.emit(event())
        except DeskagentError as error:
            self._bridge.put(Told("error", f"{error}\n{about}"))

    def _interrupt(self) -> None:
        if self._task is not None:
            self._stopped = True
            self._task.cancel()

    def _said(self, text: str, pictures: tuple[Attached, ...], waited: Queued | None) -> None:
        if not self._turning:
            self._queue(partial(self._turn, text, pictures, waited))
            return
        steering = asyncio.ensure_future(self._say(text, pictures, waited))
        steering.add_done_callback(self._steered)

    def _steered(self, steering: asyncio.Future[None]) -> None:
        if steering.cancelled():
            return
        if error := steering.exception():
            self._bridge.put(Told("error", str(error)))
        elif not self._turning:  # it ended while this was made ready
            self._queue(self._go_on)

    async def _turn(
        self, text: str, pictures: tuple[Attached, ...] = (), waited: Queued | None = None
    ) -> None:
        self._turning = True
        await self._say(text, pictures, waited)
        await self._go_on()

    async def _go_on(self) -> None:
        """Lets the model work until it has nothing more to do."""
        self._turning = True
        try:
            state = await self.talk.run()
        finally:
            await self.talk.provider.close()
        if state is not State.DONE:
            self._bridge.put(Told("warning", self.talk.why))

    async def _say(self, text: str, pictures: tuple[Attached, ...], waited: Queued | None) -> None:
        def made() -> tuple[Part, ...]:
            return said(text, see=partial(shown, self.talk)) + self._beside(pictures)

        parts = await asyncio.to_thread(made) + (waited.beside if waited else ())
        self.talk.recorder.emit(events.Request(text=text))
        self.talk.say(parts, id=waited.id if waited else "")

    def _beside(self, pictures: tuple[Attached, ...]) -> tuple[Part, ...]:
        """Pictures, kept with the session, as parts of what is said."""
        found: tuple[Part, ...] = ()
        for each in pictures:
            found += sent(self.talk, each.name, each.made, each.original)
        return found

    async def _slash(self, line: str) -> None:
        name, _, words = line[1:].partition(" ")
        if name in self._own:
            await self._turn(expanded(self._own[name], words.strip()))
        elif name == "compact":
            made = await self.talk.make_room(words.strip(), trigger="manual")
            self._bridge.put(Told("info", COMPACTED[made]))
        elif told := await _whole(partial(command, line, self.talk)):
            self._bridge.put(Told("info", told))

    async def _shell(self, line: str) -> None:
        self.talk.say(await _whole(partial(shelled, line, self.talk, self._cancel)))

    async def _done(self, work: Callable[[Talk], Any], then: Callable[[Any], None]) -> None:
        self._bridge.put(partial(then, await _whole(partial(work, self.talk))))

    def _next_mode(self) -> None:
        if (modes := self.talk.modes) is not None:
            now = modes.rights.mode
            at = _MODES.index(now) + 1 if now in _MODES else 0
            modes.change(_MODES[at % len(_MODES)])
            self._look()

    def _look(self) -> None:
        """Tells what holds around the session now."""
        try:
            head = git.head(self.project)
            branch = head.branch or (head.commit or "")[:8]
        except DeskagentError:
            branch = ""
        rung = str(self.talk.hands.context("").sandbox.rung)
        self._bridge.put(Surroundings(self.talk.provider.capabilities.context, rung, branch))


async def _whole(work: Callable[[], T]) -> T:
    """What `work` gives, on a thread. It isn't left halfway: who cancels waits for its end, a second time doesn't."""
    running = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        return await running


_SLASHES = {name: slash.says for name, slash in COMMANDS.items()}
