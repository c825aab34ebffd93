"""What panes read of the session before any of them is shown."""

from __future__ import annotations

from deskagent.agent.front import Passing
from deskagent.agent.reviewing import Review
from deskagent.session.event import Event


class ReviewReader:
    """number: grows when the list of changed files may have become another one."""

    def __init__(self) -> None:
        self.review, self.number = Review(), 0

    def take(self, event: Event | Passing) -> None:
        if isinstance(event, Event):
            self.number += self.review.take(event)


class NoReader:
    """For a pane that reads nothing of the log."""

    def take(self, event: Event | Passing) -> None:
        return
