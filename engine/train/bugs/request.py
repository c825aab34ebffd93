"""What somebody may have said of a bug: words like those of commits and reports."""

from __future__ import annotations

import ast
import random

from engine.train.bugs.source import FUNCTIONS, Unit, docstring

_ANY = (
    "fix {name}", "fix bug in {name}", "{name} is wrong", "{name} doesn't work", "{name}: {says}", "fix {name}: {says}",
    "{name} should {says}", "{name} gives the wrong result", "tests of {name} fail", "repair {name}",
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
_KNOWN = 0.4
"""Share of requests that tell the kind of bug."""
_LONGEST = 120


def request(unit: Unit, kinds: tuple[str, ...], rng: random.Random) -> str:
    """Words about a part; empty where it has no name."""
    head = next((node for node in unit.body if isinstance(node, (*FUNCTIONS, ast.ClassDef))), None)
    if head is None:
        return ""
    first = docstring(head.body)
    says = str(first.value.value).strip().split("\n")[0].rstrip(".") if first else ""  # type: ignore[attr-defined]
    says = says[:1].lower() + says[1:_LONGEST]
    choices = _OF_KIND.get(kinds[0], _ANY) if len(kinds) == 1 and rng.random() < _KNOWN else _ANY
    usable = [words for words in choices if says or "{says}" not in words]
    name = f"{head.name}()" if rng.random() < 0.3 and not isinstance(head, ast.ClassDef) else head.name
    return rng.choice(usable).format(name=name, says=says)
