"""How many tokens a conversation has, roughly and rather too many, and what they are spent on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from deskagent.messages import Author, Image, Said, Text, Thinking, Turn, Used

_A_TOKEN, _PIXELS, _LEAST = 3.5, 750, 100
"""Letters of a token; pixels of a picture's token, and tokens of a picture at least, roughly."""
_TURN, _CALL = 40, 60
"""Letters that surround a turn, and a call."""


def size(turns: Sequence[Turn]) -> float:
    """Tokens of turns."""
    return sum(by_kind(turns).values())


def by_kind(turns: Sequence[Turn]) -> dict[str, float]:
    """Tokens of turns by what they are of: `said` by the person, `told` by deskagent (summaries, reminders),
    `answers`, `thinking`, `calls`, `results` and `pictures`."""
    found: defaultdict[str, float] = defaultdict(float)
    for turn in turns:
        own = ("said" if turn.author is Author.PERSON else "told") if isinstance(turn, Said) else "answers"
        letters = defaultdict(int, {own: _TURN})
        for part in turn.parts:
            match part:
                case Image() as picture:
                    found["pictures"] += _seen(picture)
                case Text():
                    letters[own] += len(part.text)
                case Thinking():
                    letters["thinking"] += len(part.text)
                case Used(call=call, result=result):
                    letters["calls"] += len(call.arguments) + _CALL
                    letters["results"] += sum(
                        len(each.text) for each in result.content if isinstance(each, Text)
                    )
                    found["pictures"] += sum(
                        _seen(each) for each in result.content if isinstance(each, Image)
                    )
        for kind, count in letters.items():
            found[kind] += of_text(count)
    return dict(found)


def of_text(letters: int) -> float:
    """Tokens of so many letters."""
    return letters / _A_TOKEN


def _seen(image: Image) -> float:
    """Tokens of a picture."""
    return max(_LEAST, image.width * image.height / _PIXELS)
