"""Pictures that the person shows: made to fit, put into the conversation, and said where the model can't see."""

from __future__ import annotations

from pathlib import Path

from deskagent.agent.converse.talk import Talk
from deskagent.errors import UsageError
from deskagent.messages import Part, Text
from deskagent.providers import catalog
from deskagent.tools import picture
from deskagent.tools.base import ToolError
from deskagent.tools.picture import Made


def shown(talk: Talk, name: str, path: Path) -> tuple[Part, ...]:
    """A picture file, named by @, as what is said. Errors: UsageError for one that can't be shown."""
    try:
        raw = picture.read(path.resolve())
        return sent(talk, name, picture.make(raw, name, talk.hands.context("picture")), raw)
    except ToolError as error:
        raise UsageError(str(error), hint="Without the @ only its name is said.") from error


def sent(talk: Talk, name: str, made: Made, original: bytes) -> tuple[Part, ...]:
    """A picture that was made as what is said. original: see picture.keep."""
    if not talk.provider.capabilities.images:
        talk.recorder.notice("warning", f"{blind(talk.provider.name)} It is only told that {name} is there.")
    image = picture.keep(made, name, talk.hands.context("picture"), original)
    return Text(f"Picture {name} ({made.note}):"), image


def blind(model: str) -> str:
    """What the person is told where pictures don't reach the model."""
    seeing = ", ".join(catalog.seeing())
    which = f"These of your models can: {seeing} (-m NAME, /model NAME)." if seeing else _NONE
    return f"{model} can't see pictures. {which}"


_NONE = "None of your models is marked as one that can: deskagent model add … --images."
