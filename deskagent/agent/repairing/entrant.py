"""One model at a repair, on a thread of its own: from its copy of the project to what it used, and why it ended."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from deskagent.agent.converse.rules import Rules
from deskagent.agent.converse.talk import Limits, Meter
from deskagent.agent.recorder import Recorder, Step
from deskagent.agent.repairing.asked import Asked
from deskagent.agent.repairing.problem import Problem
from deskagent.agent.repairing.seat import Seat
from deskagent.agent.repairing.table import Table
from deskagent.agent.signals import Stopped
from deskagent.errors import DeskagentError
from deskagent.providers.base import Provider
from deskagent.session import talk
from deskagent.session.history import History
from deskagent.tools.base import ToolError

_log = logging.getLogger(__name__)
_TICK = 0.1
_PATIENCE = 15.0
"""Seconds that what a model does has to end after it was told to."""
OVER = "The search was over."


class Worker(Protocol):
    """laid: keys of the patches that it had tried."""

    laid: list[str]

    async def work(self, more: str = "") -> str: ...


@dataclass
class Entrant:
    """model: as the person names it. plan: see words.PLANS, None for one that works alone. provider, moves: as in
    Talk. `why` says what ended it, "" while it works and where its patch is accepted; `stopped` is a signal that it
    met."""

    model: str
    plan: int | None
    provider: Provider
    moves: bool
    why: str = ""
    seconds: float = 0.0
    stopped: Stopped | None = None
    laid: list[str] = field(default_factory=list)
    _seat: Seat | None = None
    _words: str = ""

    def __post_init__(self) -> None:
        self._change = threading.Condition()
        self._cancel = threading.Event()
        self._sitting = False
        self._thread: threading.Thread | None = None

    @property
    def name(self) -> str:
        return self.model if self.plan is None else f"{self.model}, plan {self.plan + 1}"

    @property
    def by_tools(self) -> bool:
        return self.provider.capabilities.tools

    def begin(
        self,
        recorder: Recorder,
        problem: Problem,
        table: Table,
        *,
        effort: str,
        rules: Rules,
        limits: Limits,
        meter: Meter,
        together: list[Step],
    ) -> None:
        """Sits down at the table and works, until `close`. together: the steps of all models so far."""
        history, id = History(), recorder.new_id("model")
        self._table, self._seat = table, Seat(recorder, id, history, together)
        recorder.emit(
            talk.AgentBegun(id=id, call="", name="repair", task=self.name, model=self.provider.name)
        )
        asked = Asked(
            self.name,
            self.plan,
            problem,
            table,
            self._seat,
            history,
            self.provider,
            self.moves,
            effort,
            rules,
            limits,
            meter,
        )
        self._sit()
        self._thread = threading.Thread(
            target=self._run, args=(asked,), name=f"model {self.name}", daemon=True
        )
        self._thread.start()

    def refuted(self, words: str) -> None:
        """Its patch that was accepted isn't, after all: it goes on."""
        with self._change:
            if self._thread is not None and self._thread.is_alive() and not self.why:
                self._words = words
                self._sit()
                self._change.notify_all()

    def cancel(self) -> None:
        """Tells it to end."""
        with self._change:
            self._cancel.set()
            self._change.notify_all()

    def join(self) -> None:
        if self._thread is not None:
            self._thread.join(_PATIENCE)

    def as_dict(self, green: set[str], chosen: str) -> dict[str, Any]:
        """green: keys of patches that pass. chosen: of the one that was chosen."""
        steps = self._seat.own if self._seat else []
        names = ("prompt", "cached", "thinking", "output")
        return {
            "name": self.name,
            "model": self.model,
            "plan": None if self.plan is None else self.plan + 1,
            "works_by": "tools" if self.by_tools else "questions",
            "began": self._seat is not None,
            "passes": any(key in green for key in self.laid),
            "chosen": chosen in self.laid,
            "patches": len(dict.fromkeys(self.laid)),
            "turns": sum(bool(step.tokens) for step in steps),
            "tokens": {name: sum(step.tokens.get(name, 0) for step in steps) for name in names},
            "cost_usd": round(sum(step.cost_usd for step in steps), 6),
            "seconds": round(self.seconds, 3),
            "why": self.why,
        }

    def _sit(self) -> None:
        if not self._sitting:
            self._sitting = True
            self._table.sit()

    def _rise(self) -> None:
        with self._change:
            if self._sitting and not self._words:
                self._sitting = False
                self._table.rise()

    def _run(self, asked: Asked) -> None:
        began = time.monotonic()
        try:
            with self._worker(asked) as worker:
                self.laid = worker.laid
                asyncio.run(self._until(worker, began))
        except ToolError as error:
            self.why = OVER if self._cancel.is_set() else str(error)
        except DeskagentError as error:
            self.why = error.message
        except Stopped as stop:
            self.why, self.stopped = str(stop), stop
        except Exception as error:  # whatever a model's answer did, the search goes on
            _log.exception("a model's work broke")
            self.why = f"{type(error).__name__}: {error}"
        finally:
            self.seconds = self.seconds or time.monotonic() - began
            self._words = ""
            self._rise()

    @contextlib.contextmanager
    def _worker(self, asked: Asked) -> Iterator[Worker]:
        if not self.by_tools:
            from deskagent.agent.repairing.narrow import Narrow

            yield Narrow(asked, self._cancel)
            return
        from deskagent.agent.repairing.copy import Copy
        from deskagent.agent.repairing.driver import Driver

        with Copy(asked.problem.project, asked.problem.command, asked.problem.sandbox) as copy:
            yield Driver(asked, copy, self._cancel)

    async def _until(self, worker: Worker, began: float) -> None:
        """Works until it ends, or is told to."""
        try:
            more: str | None = ""
            while more is not None:
                work = asyncio.ensure_future(worker.work(more))
                while not work.done():
                    await asyncio.wait({work}, timeout=_TICK)
                    if self._cancel.is_set():
                        work.cancel()
                        break
                try:
                    self.why = await work
                except asyncio.CancelledError:
                    self.why = OVER
                self.seconds = time.monotonic() - began
                if self.why:
                    return
                self._rise()
                more = await asyncio.to_thread(self._heard)
        finally:
            await self.provider.close()

    def _heard(self) -> str | None:
        """Waits for a word on the patch that was accepted; None where none will come."""
        with self._change:
            self._change.wait_for(lambda: self._words or self._cancel.is_set())
            words, self._words = self._words, ""
            return words or None
