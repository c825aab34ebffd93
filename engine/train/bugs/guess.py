"""Whether somebody who sees an excerpt could think of what is put in."""

from __future__ import annotations

import builtins
import keyword
import random
import re
from collections.abc import Sequence

from engine.prompt.edits import Edit

_NAMES = re.compile(r"[A-Za-z_]\w+")
_KEPT = 0.45
"""Share of examples that are kept for each name that stands nowhere in the excerpt."""
_COMMON = {
    name for each in (builtins, str, list, dict, set, re) for name in dir(each) if not name.startswith("__")
}
_COMMON |= {
    *keyword.kwlist,
    "self",
    "cls",
    "os",
    "path",
    "re",
    "__init__",
    "key",
    "encoding",
    "args",
    "kwargs",
}


def guessable(shown: str, answer: Sequence[Edit], rng: random.Random) -> bool:
    """Always where each name of the answer stands in the excerpt or is known to all who write Python; else by chance,
    the less likely the more names there are."""
    new = names("\n".join(edit.new or "" for edit in answer))
    new -= names(shown) if new else set()
    return not new or rng.random() < _KEPT ** len(new)


def names(text: str) -> set[str]:
    """Those in a text that not everybody knows who writes Python."""
    return set(_NAMES.findall(text)) - _COMMON
