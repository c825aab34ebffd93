"""Servers that refuse a request for a picture in it: the conversation goes on without its pictures there.

Otherwise one picture would be the end of a session, since every later request holds it too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from deskagent.messages import Turn
from deskagent.providers import pictures
from deskagent.providers.base import ProviderError, Trouble
from deskagent.session import talk
from deskagent.session.history import History

UNSEEN = "unseen"
"""What is chosen (see talk.Chosen) of a model whose server takes no pictures: its name."""
_ABOUT_PICTURES = re.compile(r"(?i)image|picture|vision|multi-?modal|media|mmproj")


def shown(turns: Iterable[Turn], history: History, model: str) -> tuple[Turn, ...]:
    """`turns` as that model's server takes them."""
    return tuple(pictures.refused(turns) if history.chosen.get(UNSEEN) == model else turns)


def refusal(error: ProviderError | None, history: History, model: str) -> talk.Chosen | None:
    """What is to be put on record where the error is about pictures that could be left out; else None."""
    if error is None or error.trouble not in (Trouble.BAD_REQUEST, Trouble.BROKEN):
        return None
    if history.chosen.get(UNSEEN) == model or not pictures.any_in(history.turns()):
        return None
    return talk.Chosen(what=UNSEEN, value=model) if _ABOUT_PICTURES.search(str(error)) else None
