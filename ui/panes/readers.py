"""What panes read of the session before any of them is shown."""

from __future__ import annotations

from deskagent.agent.front import Passing
from deskagent.agent.reviewing import Review
from deskagent.messages import Image, Part
from deskagent.session import talk
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


class PicturesReader:
    """images: the pictures of the session by their blobs, in the order they came, with who brought them."""

    def __init__(self) -> None:
        self.images: dict[str, tuple[Image, str]] = {}

    def take(self, event: Event | Passing) -> None:
        match event:
            case talk.Spoken(parts=parts):
                self._keep(parts, "you")
            case talk.CallEnded(result=result):
                self._keep(result.content, "a tool")

    def _keep(self, parts: tuple[Part, ...], who: str) -> None:
        for part in parts:
            if isinstance(part, Image):
                self.images.setdefault(part.blob, (part, who))
