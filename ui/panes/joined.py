"""The panes as parts of the app: what each is told of the session, and what it does with the conversation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from deskagent.agent import reviewing
from deskagent.agent.converse import sizes
from deskagent.agent.converse.talk import Talk
from deskagent.agent.reviewing import Changed
from deskagent.errors import DeskagentError
from deskagent.messages import Author, Text
from deskagent.repo import background
from deskagent.repo.index import Status, open_index
from ui.log.facts import Facts
from ui.log.inert import inert
from ui.panes.base import Session
from ui.panes.changes import ChangesPane
from ui.panes.diff_view import DiffView
from ui.panes.meter import Measured, MeterPane
from ui.panes.readers import NoReader, ReviewReader
from ui.panes.terminal import TerminalPane


class _Done(Message):
    """What was done on another thread has ended. then: gets its result, on the app's."""

    def __init__(self, then: Callable[[Any], None], result: Any) -> None:
        super().__init__()
        self.then, self.result = then, result


class _Failed(Message):
    def __init__(self, error: DeskagentError) -> None:
        super().__init__()
        self.error = error


class Joined(Vertical):
    """A pane of a session. `act` has something done with its conversation, also while that is at work."""

    DEFAULT_CSS = """
    Joined { height: 1fr; }
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session

    @property
    def talk(self) -> Talk:
        return self.session.talk

    def on_mount(self) -> None:
        self.ready(self.talk)

    def ready(self, talk: Talk) -> None:
        """The conversation is there."""

    def fresh(self) -> None:
        """As panes.Shows."""

    def act(self, work: Callable[[Talk], Any], then: Callable[[Any], None] = lambda result: None) -> None:
        """Work that may block, on a thread. Its DeskagentErrors are told to the person."""
        talk = self.talk

        def guarded() -> None:
            try:
                self.post_message(_Done(then, work(talk)))
            except DeskagentError as error:
                self.post_message(_Failed(error))

        self.run_worker(guarded, thread=True)

    @on(_Done)
    def _done(self, event: _Done) -> None:
        event.stop()
        event.then(event.result)

    @on(_Failed)
    def _failed(self, event: _Failed) -> None:
        event.stop()
        self.notify(inert(str(event.error)), severity="error", timeout=10, markup=False)


def _tell(talk: Talk, told: str) -> None:
    """The model hears of what the person did beside the conversation."""
    talk.say((Text(told),), Author.DESKAGENT)


class Changes(Joined):
    """The review, whose decisions are done on disk and on record at once."""

    def __init__(self, reader: ReviewReader, session: Session) -> None:
        super().__init__(session)
        self.reader = reader
        self._read = -1

    def compose(self) -> ComposeResult:
        yield ChangesPane()

    def fresh(self) -> None:
        if self._read != self.reader.number:
            self._read = self.reader.number
            self.act(self._look, self._show)

    def _look(self, talk: Talk) -> list[Changed]:
        return self.reader.review.files(talk.recorder.journal.blobs, self.session.project)

    def _show(self, files: list[Changed]) -> None:
        self.query_one(ChangesPane).files = files

    @on(DiffView.Keep)
    def _keep(self, event: DiffView.Keep) -> None:
        event.stop()
        self.act(lambda talk: reviewing.keep(talk.recorder, event.file, event.hunk, kept=event.kept))

    @on(DiffView.Reject)
    def _reject(self, event: DiffView.Reject) -> None:
        event.stop()

        def reject(talk: Talk) -> None:
            try:
                _tell(talk, reviewing.reject(talk.recorder, self.session.project, event.file, event.hunk))
            finally:
                self._read = -1  # a refusal says that the list isn't what is on the disk

        self.act(reject, lambda _: self.fresh())

    @on(_Failed)
    def _look_again(self) -> None:
        self.fresh()


class Terminals(Joined):
    """The jobs of the conversation."""

    def __init__(self, reader: NoReader, session: Session) -> None:
        super().__init__(session)

    def compose(self) -> ComposeResult:
        yield TerminalPane()

    def ready(self, talk: Talk) -> None:
        self.query_one(TerminalPane).jobs = talk.hands.context("panes").jobs

    @on(TerminalPane.Did)
    def _did(self, event: TerminalPane.Did) -> None:
        event.stop()
        self.act(lambda talk: _tell(talk, event.told))


class Meter(Joined):
    """The context is measured when it is looked at."""

    def __init__(self, reader: Facts, session: Session) -> None:
        super().__init__(session)
        self.reader = reader
        self._measuring = False

    def compose(self) -> ComposeResult:
        yield MeterPane()

    def fresh(self) -> None:
        if not self._measuring:
            self._measuring = True
            self.act(self._look, self._show)

    def _look(self, talk: Talk) -> tuple[Measured, Status]:
        head = len(talk.system) + sum(len(str(tool)) for tool in talk.tools)
        measured = Measured(
            talk.provider.name,
            talk.provider.capabilities.context,
            self.reader.used,
            self.reader.cached,
            {"head": sizes.of_text(head), **sizes.by_kind(talk.history.turns())},
            talk.history.summaries,
        )
        with open_index(self.session.project) as index:
            return measured, index.status()

    def _show(self, found: tuple[Measured, Status]) -> None:
        self._measuring = False
        pane = self.query_one(MeterPane)
        pane.measured, pane.index = found

    @on(_Failed)
    def _not_measured(self) -> None:
        self._measuring = False

    @on(MeterPane.Build)
    def _build(self, event: MeterPane.Build) -> None:
        event.stop()
        self.act(lambda talk: background.start(self.session.project), self._building)

    def _building(self, started: bool) -> None:
        self.notify(
            "The index is brought up to date." if started else "It is being written already.", markup=False
        )
        self.fresh()
