"""The conversation's front: what happens goes into a queue that the app empties, questions wait for its answers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from deskagent.agent.front import Passing, Printed, Question
from deskagent.session.event import Event
from ui.live.messages import Asked, Withdrawn

_PRINTED = 1 << 16
"""Characters of a call's output that wait in the queue; of more than that only the end is shown."""


class Bridge:
    """A Person. wake: called, on any thread, when the queue was empty and isn't any more. Everything is dropped until
    `open` is called: the app gets what happened before from the session itself."""

    interactive = True

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._lock = threading.Lock()
        self._queue: list[Any] = []
        self._asked: list[Asked] = []
        self._open = False

    def open(self) -> None:
        self._open = True

    def show(self, event: Event | Passing) -> None:
        if self._open:
            self.put(event)

    def put(self, message: Any) -> None:
        with self._lock:
            first = not self._queue
            last = self._queue[-1] if self._queue else None
            if isinstance(message, Printed) and isinstance(last, Printed) and last.call == message.call:
                self._queue[-1] = Printed(last.call, (last.text + message.text)[-_PRINTED:])
            else:
                self._queue.append(message)
        if first:
            self._wake()

    def taken(self) -> list[Any]:
        """All that waits, which is the app's now."""
        with self._lock:
            queue, self._queue = self._queue, []
        return queue

    def ask(self, question: Question) -> bool:
        return self.choose(question, ("once", "no")) == "once"

    def choose(self, question: Question, choices: tuple[str, ...]) -> str:
        asked = Asked(question, choices)
        with self._lock:
            self._asked.append(asked)
        self.put(asked)
        answer = asked.wait()
        with self._lock:
            self._asked.remove(asked)
        return answer

    def release(self) -> None:
        """Lets go of who waits for an answer: none comes."""
        with self._lock:
            waiting = list(self._asked)
        for asked in waiting:
            asked.answer("no" if "no" in asked.choices else "")
            self.put(Withdrawn(asked))
