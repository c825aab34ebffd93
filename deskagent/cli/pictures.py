"""Pictures that the person names by @: made to fit, put into the conversation, and said where the model can't see."""

from __future__ import annotations

from pathlib import Path

from deskagent.agent.converse.talk import Talk
from deskagent.errors import UsageError
from deskagent.messages import Part, Text
from deskagent.providers import catalog
from deskagent.tools import picture
from deskagent.tools.base import ToolError


def shown(talk: Talk, name: str, path: Path) -> tuple[Part, ...]:
    """A picture file as what is said. Errors: UsageError for one that can't be shown."""
    try:
        image, note = picture.load(picture.read(path.resolve()), name, talk.hands.context("picture"))
    except ToolError as error:
        raise UsageError(str(error), hint="Without the @ only its name is said.") from error
    if not talk.provider.capabilities.images:
        talk.recorder.notice("warning", blind(talk.provider.name, name))
    return Text(f"Picture {name} ({note}):"), image


def blind(model: str, name: str) -> str:
    """What the person is told where a picture doesn't reach the model."""
    seeing = ", ".join(catalog.seeing())
    which = f"These of your models can: {seeing} (-m NAME, /model NAME)." if seeing else _NONE
    return f"{model} can't see pictures, so it is only told that {name} is there. {which}"


_NONE = "None of your models is marked as one that can: deskagent model add … --images."
