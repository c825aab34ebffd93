"""What the person said that waits until something has ended."""

from __future__ import annotations

from deskagent.agent.front import Passing
from deskagent.session import talk
from deskagent.session.event import Event


class Waiting:
    """said: by their ids, the first that is to be sent first."""

    def __init__(self) -> None:
        self.said: dict[str, talk.Queued] = {}

    def take(self, event: Event | Passing) -> None:
        match event:
            case talk.Queued():
                self.said[event.id] = event
            case talk.Unqueued(id=id) | talk.Spoken(id=id):
                self.said.pop(id, None)
            case _:
                return
