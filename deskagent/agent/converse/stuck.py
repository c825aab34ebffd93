"""Noticing that a conversation gets nowhere: the same calls with the same results, or thinking that repeats itself."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from deskagent.messages import Answer, Author, Text, Turn, Used

SAME, CYCLE = 3, 4
"""Times that one call may give the same result; answers in a row that may go round among the same few calls."""
_SPAN = 16
"""Answers that are looked back on."""
_PIECE, _TIMES, _WINDOW = 60, 6, 4000
"""Letters of a piece of thinking; how often it may come in so many letters."""


@dataclass(frozen=True, slots=True)
class Stuck:
    """why: in words, for the model and the person. key: the same for the same rut."""

    why: str
    key: str


def stuck(turns: Sequence[Turn]) -> Stuck | None:
    """Whether the last answers repeat themselves: one call with one result again and again, or a round of few calls."""
    answers: list[Answer] = []
    for turn in reversed(turns):
        if isinstance(turn, Answer):
            answers.append(turn)
        elif turn.author is Author.PERSON:
            break  # whoever was told something new may look again
    if not answers or not answers[0].used:
        return None
    last = [_key(used) for used in answers[0].used]
    every = [_key(used) for answer in answers[:_SPAN] for used in answer.used]
    for used, key in zip(answers[0].used, last, strict=True):
        if every.count(key) >= SAME:
            return Stuck(f"{used.call.name} was called {every.count(key)} times with the same result", key)
    rounds = [frozenset(map(_key, answer.used)) for answer in answers[: 2 * CYCLE]]
    if len(rounds) == 2 * CYCLE and len(set(rounds)) <= CYCLE // 2:
        return Stuck("the last calls go round in a circle", "".join(sorted(rounds[0])))
    return None


def loops(thinking: str) -> bool:
    """Whether the end of a text goes round: the last piece has come again and again."""
    tail = thinking[-_WINDOW:]
    piece = tail[-_PIECE:]
    return len(tail) == _WINDOW and len(set(piece.split())) > 2 and tail.count(piece) >= _TIMES


def _key(used: Used) -> str:
    """Equal for calls that ask the same and were told the same."""
    try:
        arguments = json.dumps(json.loads(used.call.arguments), sort_keys=True)
    except ValueError:
        arguments = used.call.arguments
    told = "".join(part.text for part in used.result.content if isinstance(part, Text))
    whole = "\0".join((used.call.name, arguments, str(used.result.outcome), told))
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()
