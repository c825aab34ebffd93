"""Which pictures of a conversation go out: as many as every server takes, the latest ones; words stand for the others.

Servers refuse requests with too many pictures, or with too many bytes of them, and would refuse every later request of
the conversation too. Older ones are left out many at a time, so that the requests between begin with the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from deskagent.messages import Answer, Image, Part, Said, Text, Turn, Used

MOST, STEP = 20, 10
"""Pictures of a request at most, and how many are left out at a time."""
_OLDER = (
    "[A picture was here that isn't sent any more, since many came later: {}. Look at it anew if need be.]"
)
_REFUSED = "[A picture is here that the server didn't take: {}.]"


def latest(turns: Iterable[Turn]) -> list[Turn]:
    """`turns` with no more pictures than a request may have."""
    kept = list(turns)
    count = sum(isinstance(part, Image) for turn in kept for part in _parts(turn))
    left = -(-(count - MOST) // STEP) * STEP if count > MOST else 0
    return _without(kept, left, _OLDER)


def refused(turns: Iterable[Turn]) -> list[Turn]:
    """`turns` for a server that took none of their pictures."""
    return _without(list(turns), None, _REFUSED)


def any_in(turns: Iterable[Turn]) -> bool:
    return any(isinstance(part, Image) for turn in turns for part in _parts(turn))


def _parts(turn: Turn) -> Iterable[Part]:
    if isinstance(turn, Said):
        return turn.parts
    return (part for used in turn.used for part in used.result.content)


def _without(turns: list[Turn], count: int | None, words: str) -> list[Turn]:
    """With words in place of the first `count` pictures, None for all."""
    if count == 0:
        return turns
    left = count if count is not None else -1

    def worded(parts: Iterable[Part]) -> tuple[Part, ...]:
        nonlocal left
        made: list[Part] = []
        for part in parts:
            if isinstance(part, Image) and left:
                left -= 1
                part = Text(words.format(part.origin or "a picture"))
            made.append(part)
        return tuple(made)

    found: list[Turn] = []
    for turn in turns:
        if isinstance(turn, Said):
            found.append(msgspec.structs.replace(turn, parts=worded(turn.parts)))
        else:
            found.append(_answered(turn, worded))
    return found


def _answered(turn: Answer, worded) -> Answer:
    parts = tuple(
        Used(part.call, msgspec.structs.replace(part.result, content=worded(part.result.content)))
        if isinstance(part, Used)
        else part
        for part in turn.parts
    )
    return msgspec.structs.replace(turn, parts=parts)
