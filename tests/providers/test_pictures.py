"""Pictures of a conversation: as many go out as servers take, and what stays is the same from ask to ask."""

from __future__ import annotations

import json

import pytest

from deskagent.messages import Answer, Call, Image, Outcome, Result, Said, Text, Used
from deskagent.providers import pictures
from deskagent.providers.base import Ask
from deskagent.providers.remote import APIS


def shot(number: int) -> Image:
    return Image(f"blob-{number}", "image/png", 40, 30, f"shot-{number}.png")


def seen(number: int):
    """Two turns: a picture that the person gave, and one that a tool did."""
    call = Call(f"call_{number:010}", "image", "{}")
    return (
        Said((Text("See"), shot(2 * number))),
        Answer((Used(call, Result(Outcome.DONE, (Text("here"), shot(2 * number + 1)))),), "here/m"),
    )


def images(turns) -> list[str]:
    return [part.origin for turn in turns for part in pictures._parts(turn) if isinstance(part, Image)]


@pytest.mark.parametrize(("count", "left"), [(0, 0), (20, 0), (22, 10), (30, 10), (32, 20), (60, 40)])
def test_the_latest_are_kept_and_the_others_leave_many_at_a_time(count: int, left: int) -> None:
    turns = [turn for number in range(count // 2) for turn in seen(number)]
    kept = pictures.latest(turns)
    assert images(kept) == [f"shot-{number}.png" for number in range(left, count)]
    assert len(kept) == len(turns) and len(images(kept)) <= pictures.MOST
    assert images(turns) == [f"shot-{number}.png" for number in range(count)]


@pytest.mark.parametrize("dialect", ["kimi", "responses", "anthropic"])
def test_requests_begin_with_the_same_bytes_but_where_pictures_leave(dialect: str, endpoint) -> None:
    where = endpoint(dialect)
    turns, before, broken = [], "", 0
    for number in range(25):
        turns += seen(number)
        ask = Ask("", (), tuple(turns), blob=lambda name: name.encode())
        body = APIS[where.dialect.api].request(ask, where)
        sent = json.dumps(body.get("messages") or body["input"])
        assert sent.count("base64,") + sent.count('"base64"') <= pictures.MOST
        broken += not sent.startswith(before[:-1])
        before = sent
    assert broken == 3  # of fifty pictures, at the 21st, 31st and 41st


def test_for_a_server_that_takes_none_words_stand_for_each() -> None:
    turns = pictures.refused(seen(0))
    assert not pictures.any_in(turns) and pictures.any_in(seen(0))
    assert isinstance(turns[0].parts[1], Text) and "shot-0.png" in turns[0].parts[1].text
