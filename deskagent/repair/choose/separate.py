"""What tells two green patches apart, as a concrete input with both outputs."""

from __future__ import annotations

import re

from deskagent.repair.choose.differ import Behaviour, Key, Try
from deskagent.repair.choose.types import Separation
from deskagent.repair.search import Trial

_WORTH_READING = 160  # characters of a call that a person still reads
_DIGEST = re.compile(r" #[0-9a-f]{10}$")


def separate(best: Trial, rival: Trial, behaviour: Behaviour) -> Separation | None:
    """The input on which the two differ that is easiest to read; None where no difference was seen."""
    one, other = (behaviour.observed.get(t.number, {}) for t in (best, rival))
    unedited = behaviour.observed.get(0, {})
    differing = [
        key
        for key in one
        if key in other and one[key].sure and other[key].sure and one[key].effect != other[key].effect
    ]
    if not differing:
        return None

    def burden(key: Key) -> tuple[bool, bool, bool, bool, int]:
        shown = _shown(one[key], other[key]), _shown(other[key], one[key])
        return (
            shown[0] == shown[1],
            len(key[1]) > _WORTH_READING,
            key[0] not in behaviour.entries,
            one[key].new,
            len(key[1]) + sum(map(len, shown)),
        )

    key = min(differing, key=burden)
    before = unedited.get(key)
    return Separation(
        call=_plain(key[1]),
        best=_shown(one[key], other[key]),
        rival=_shown(other[key], one[key]),
        unedited=_shown(before, one[key]) if before is not None else "",
        made_up=one[key].new,
    )


def _shown(one: Try, other: Try) -> str:
    """How a call ended; with what it left behind, where that alone differs."""
    if one.kind != "returns":
        return f"raises {_plain(one.out)}" if one.kind == "raises" else one.kind
    if other.kind == "returns" and one.out == other.out and one.after != other.after:
        return f"{_plain(one.out)} and leaves {_plain(_differing(one.after, other.after))}"
    return _plain(one.out)


def _differing(text: str, other: str) -> str:
    """The arguments that the two left differently."""
    theirs = set(other.split("; "))
    own = [part for part in text.split("; ") if part not in theirs]
    return "; ".join(own) or text


def _plain(text: str) -> str:
    return _DIGEST.sub("", text)
