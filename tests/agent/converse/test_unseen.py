"""A picture that a server refuses is left out from then on, and the conversation goes on, also after a resume."""

from __future__ import annotations

import pytest

from deskagent.agent.converse.unseen import UNSEEN, refusal, shown
from deskagent.messages import Image, Text
from deskagent.providers import pictures
from deskagent.providers.base import ProviderError, Trouble
from deskagent.session import talk
from deskagent.session.history import History

SAYS = ProviderError(Trouble.BAD_REQUEST, "Could not process image")


@pytest.fixture
def history() -> History:
    made = History()
    made.take(talk.Spoken(id="t", parts=(Text("see"), Image("b", "image/png", 3, 4, "shot.png"))))
    return made


def test_it_is_refused_once_and_told_of_afterwards(history: History) -> None:
    chosen = refusal(SAYS, history, "a/m")
    assert chosen is not None and pictures.any_in(shown(history.turns(), history, "a/m"))
    history.take(chosen)
    assert history.chosen[UNSEEN] == "a/m" and refusal(SAYS, history, "a/m") is None
    assert not pictures.any_in(shown(history.turns(), history, "a/m"))
    assert pictures.any_in(shown(history.turns(), history, "other/m"))


@pytest.mark.parametrize(
    "error",
    [
        None,
        ProviderError(Trouble.BAD_REQUEST, "no such field"),
        ProviderError(Trouble.AUTH, "no image rights"),
    ],
)
def test_other_errors_leave_pictures_alone(history: History, error) -> None:
    assert refusal(error, history, "a/m") is None
    assert refusal(SAYS, History(), "a/m") is None
