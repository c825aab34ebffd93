"""What somebody may have said of a bug: words like those of commits and reports."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

ALONE, BESIDE = 0.6, 0.4
"""Shares of questions with words of a user: where no failure is told, and where one is."""
_ANY = (
    "fix {name}", "fix bug in {name}", "{name} is wrong", "{name} doesn't work", "{name}: {says}", "fix {name}: {says}",
    "{name} should {says}", "{name} gives the wrong result", "tests of {name} fail", "repair {name}",
    "{name} is broken", "wrong result from {name}", "the test of {name} fails, fix it",
)  # fmt: skip
_NOTHING = (
    "fix the failing tests", "make the tests pass", "fix the bug", "tests fail", "fix the failing test",
    "find out why the tests fail and fix it",
)  # fmt: skip
_OF_KIND = {
    "guard": ("handle the special case in {name}", "missing check in {name}", "check arguments in {name}"),
    "form": ("{name} doesn't accept all kinds of input", "normalise input of {name}"),
    "branch": ("{name} misses a case", "handle the other case in {name}"),
    "bound": ("off by one in {name}", "fix off-by-one error in {name}"),
    "number": ("off by one in {name}",),
    "compare": ("wrong condition in {name}", "boundary condition in {name}"),
    "term": ("condition in {name} is too broad", "narrow the condition in {name}"),
    "pattern": ("fix regex in {name}", "pattern doesn't match"),
    "exception": ("wrong exception in {name}",),
    "arguments": ("wrong order of arguments in {name}",),
    "argument": ("missing argument in {name}",),
    "element": ("add missing entry",),
    "variable": ("wrong variable in {name}",),
    "default": ("wrong default in {name}",),
    "word": ("{name} returns nothing", "inverted condition in {name}"),
    "text": ("typo in {name}",),
}
_KNOWN, _VAGUE = 0.3, 0.15
"""Shares of requests that tell the kind of bug, or not even where it is."""
_LONGEST = 120
_SIGNATURE = 8
"""Lines of a function's head, with what decorates it, at most."""
_NAME = re.compile(r"\b(def|class|func|function)[ ]+(?:\([^()\n]*\)[ ]*)?(\w+)|\b(\w+)\(")
_SAYS = re.compile(r":\n\s*[rR]?(?:\"\"\"|''')\s*([^\n\"]+)")


def request(code: str, rng: random.Random, kinds: Sequence[str] = (), *, failed: bool = False) -> str:
    """Words about a function or class, whose code begins `code`, in the share of questions that have some; else "".

    kinds: of the bugs in it, as far as known. failed: whether a failure is told beside.
    """
    if rng.random() >= (BESIDE if failed else ALONE):
        return ""
    head = _NAME.search(code)
    if head is None or rng.random() < _VAGUE:
        return rng.choice(_NOTHING)
    found = _SAYS.search(code, head.end())
    # a docstring of its own, not one of a function within
    says = found[1].strip().rstrip(".") if found and code.count("\n", 0, found.start()) < _SIGNATURE else ""
    says = says[:1].lower() + says[1:_LONGEST]
    choices = _OF_KIND.get(kinds[0], _ANY) if len(kinds) == 1 and rng.random() < _KNOWN else _ANY
    usable = [words for words in choices if says or "{says}" not in words]
    name = head[2] or head[3]
    name = f"{name}()" if rng.random() < 0.3 and head[1] != "class" else name
    return rng.choice(usable).format(name=name, says=says)
